// What is wrong with a document or its variables, as the caller reads it: without the values they sent, which may hold a
// secret beside what is wrong. By search and not by regular expressions: the texts may have megabytes.
import type { GraphQLError } from 'graphql'
import { type AppError, badRequest } from '../errors.ts'

export const maxShownErrors = 20

// graphql's own words before it prints a value; names, which is all else it quotes, hold neither.
const beforeValue = [' value: ', ', found ']

/** Of the parser or the validation. The parser quotes one token, and the place is found by it. */
export const showDocumentError = ({ message }: GraphQLError): AppError =>
  badRequest(message.startsWith('Syntax Error') ? message : withoutValue(message))

/** Of a variable, at a path of names of the schema and positions in lists. */
export function showVariableError(
  variable: string,
  path: readonly (string | number)[],
  { message }: GraphQLError,
): AppError {
  const place = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
  // These two quote a name of the caller's, in which any words may stand.
  const quotesName = message.startsWith('Field "') || message.startsWith('Value "')
  const problem = quotesName ? message : withoutValue(message)
  const at = path.length === 0 ? '' : ` at "${variable}${place}"`
  return badRequest(`Variable "$${variable}" got an invalid value${at}; ${problem}`)
}

function withoutValue(message: string): string {
  const ends = beforeValue.map((words) => message.indexOf(words)).filter((end) => end >= 0)
  if (ends.length === 0) return message
  const end = Math.min(...ends)
  return message.startsWith(' value', end) ? message.slice(0, end + ' value'.length) : message.slice(0, end)
}
