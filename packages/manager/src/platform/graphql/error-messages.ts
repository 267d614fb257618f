// Error messages about a document or its variables, without the values in them, which may contain a secret. Messages
// are searched without regular expressions, because they can be megabytes long.
import type { GraphQLError } from 'graphql'
import { AppError, badRequest } from '../errors.ts'

export const maxErrors = 20
const maxProblemLength = 200

// Phrases after which graphql-js prints a value, and the part of each that is shown. All other quotes are names, which
// contain no values.
const phrasesBeforeValue: Record<string, string> = {
  ' value: ': ' value',
  ' has invalid value ': ' has invalid value',
  ', found ': '',
}

/** Converts an error of the parser or of validation. A syntax error quotes one token, which shows the position. */
export const createDocumentError = ({ message }: GraphQLError): AppError =>
  badRequest(message.startsWith('Syntax Error') ? message : removeValue(message))

/** Converts an error about a variable, at a path of schema names and list positions below the argument. */
export function createVariableError(
  { variable, argument }: { variable: string; argument: string },
  path: readonly (string | number)[],
  { message }: GraphQLError,
): AppError {
  const pathText = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
  // These two messages quote a name from the caller, which can contain any phrase.
  const isNameQuoted = message.startsWith('Field "') || message.startsWith('Value "')
  const problem = isNameQuoted ? message : removeValue(message)
  const location = path.length === 0 ? '' : ` at "${variable}${pathText}"`
  const field = { path: [argument, ...path].join('.'), message: shorten(problem) }
  return new AppError('bad_request', `Variable "$${variable}" got an invalid value${location}; ${problem}`, {
    fields: [field],
  })
}

/** Shortens a problem that is also in the message of the error: a response can list many problems. */
const shorten = (problem: string): string =>
  problem.length <= maxProblemLength ? problem : `${problem.slice(0, maxProblemLength).toWellFormed()}…`

function removeValue(message: string): string {
  const matches = Object.entries(phrasesBeforeValue)
    .map(([phrase, replacement]) => ({ at: message.indexOf(phrase), replacement }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at)
  return matches[0] === undefined ? message : message.slice(0, matches[0].at) + matches[0].replacement
}
