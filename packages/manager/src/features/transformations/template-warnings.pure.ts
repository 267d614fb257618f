// Creates warnings about templates that are valid but probably wrong: missing values, numbers with an exponent, and
// output that does not match its type.
import type { ExponentNumber, MissingValue } from 'gotemplate'
import { hasTooManyContainers, maxContainers } from './container-limit.pure.ts'
import { shorten } from './template-names.pure.ts'
import { findXmlProblem } from './xml-map.pure.ts'

/** `line` and `column` are null for warnings about the output. */
export type TemplateWarning = { message: string; line: number | null; column: number | null }

export const maxWarnings = 20
// Messages are shortened, because they quote names from the output.
const maxMessageLength = 300

export const createMissingValueWarning = ({
  name,
  isMissingKey,
  givenTo,
  line,
  column,
}: MissingValue): TemplateWarning => {
  const problem = `${shorten(name)} ${isMissingKey ? 'is missing' : 'has no value'}`
  const effect = givenTo === null ? 'it is rendered as <no value>' : `${givenTo} receives nil`
  return { message: `${problem}; ${effect}`, line, column }
}

/**
 * Returns a warning about an exponent, which many receivers cannot parse. JSON uses no exponents between 1e-6 and
 * 1e21.
 */
export const createExponentWarning = ({ value, text, line, column }: ExponentNumber): TemplateWarning => {
  const plainText = String(value)
  const message = plainText.includes('e')
    ? `a number is rendered as ${text}; send it as a string to keep all its digits`
    : `the number ${plainText} is rendered as ${text}; use toJson to render it without an exponent`
  return { message, line, column }
}

/** Returns a warning if the output does not match its declared type. */
export function findOutputWarnings(type: string | null, text: string): TemplateWarning[] {
  const message =
    type === null ? null : type === 'JSON' ? findJsonOutputProblem(text) : findXmlOutputProblem(type, text)
  return message === null ? [] : [{ message: shorten(message, maxMessageLength), line: null, column: null }]
}

function findXmlOutputProblem(type: string, text: string): string | null {
  const problem = findXmlProblem(text)
  return problem === null ? null : `the output is not ${type}: ${problem}`
}

function findJsonOutputProblem(text: string): string | null {
  if (hasTooManyContainers(Buffer.from(text)))
    return `the output was not checked: it has more than ${maxContainers} lists and objects`
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    return `the output is not JSON: ${(error as Error).message}`
  }
}
