// What is no error in a template and yet hardly meant: values that are missing, numbers with an exponent, and output that
// is not of its type.
import type { ExponentNumber, MissingValue } from 'gotemplate'
import { isCrowded, maxContainers } from './crowded.pure.ts'
import { shortened } from './template-names.pure.ts'
import { problemOfXml } from './xml-map.pure.ts'

/** Where it is about the output, there is no place in the template. */
export type TemplateWarning = { message: string; line: number | null; column: number | null }

export const maxWarnings = 20
// A message quotes names that the output has.
const maxMessageLength = 300

export const warningOf = ({ name, isMissingKey, givenTo, line, column }: MissingValue): TemplateWarning => {
  const what = `${shortened(name)} ${isMissingKey ? 'is missing' : 'has no value'}`
  const becomes = givenTo === null ? 'it is written as <no value>' : `${givenTo} is given nil`
  return { message: `${what}; ${becomes}`, line, column }
}

/** Receivers often read no exponents. JSON writes none between 1e-6 and 1e21. */
export const warningOfExponent = ({ value, text, line, column }: ExponentNumber): TemplateWarning => {
  const plain = String(value)
  const message = plain.includes('e')
    ? `a number is written as ${text}; send it as a text to write all its digits`
    : `the number ${plain} is written as ${text}; use toJson to write it without an exponent`
  return { message, line, column }
}

/** What is to be said of the output beside its declared type. */
export function warningsOfOutput(type: string | null, text: string): TemplateWarning[] {
  const message = type === null ? null : type === 'JSON' ? problemOfJson(text) : problemOf(type, text)
  return message === null ? [] : [{ message: shortened(message, maxMessageLength), line: null, column: null }]
}

function problemOf(type: string, text: string): string | null {
  const problem = problemOfXml(text)
  return problem === null ? null : `the output is not ${type}: ${problem}`
}

function problemOfJson(text: string): string | null {
  if (isCrowded(Buffer.from(text)))
    return `the output was not checked: it has more than ${maxContainers} lists and objects`
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    return `the output is not JSON: ${(error as Error).message}`
  }
}
