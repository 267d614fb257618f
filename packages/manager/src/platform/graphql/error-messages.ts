// Error messages about a document or its variables, without the values in them, which may contain a secret. Messages
// are searched without regular expressions, because they can be megabytes long.
import type { GraphQLError } from 'graphql'
import { type AppError, badRequest } from '../errors.ts'

export const maxErrors = 20

// Phrases after which graphql-js prints a value, and the part of each that is shown. All other quotes are names, which
// contain no values.
const beforeValue: Record<string, string> = {
  ' value: ': ' value',
  ' has invalid value ': ' has invalid value',
  ', found ': '',
}

/** Converts an error of the parser or of validation. A syntax error quotes one token, which shows the position. */
export const documentError = ({ message }: GraphQLError): AppError =>
  badRequest(message.startsWith('Syntax Error') ? message : withoutValue(message))

/** Converts an error about a variable, at a path of schema names and list positions. */
export function variableError(
  variable: string,
  path: readonly (string | number)[],
  { message }: GraphQLError,
): AppError {
  const place = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
  // These two messages quote a name from the caller, which can contain any phrase.
  const quotesName = message.startsWith('Field "') || message.startsWith('Value "')
  const problem = quotesName ? message : withoutValue(message)
  const at = path.length === 0 ? '' : ` at "${variable}${place}"`
  return badRequest(`Variable "$${variable}" got an invalid value${at}; ${problem}`)
}

function withoutValue(message: string): string {
  const found = Object.entries(beforeValue)
    .map(([words, shown]) => ({ at: message.indexOf(words), shown }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at)
  return found[0] === undefined ? message : message.slice(0, found[0].at) + found[0].shown
}
