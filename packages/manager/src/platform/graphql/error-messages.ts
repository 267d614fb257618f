// What is wrong with a document or its variables, as the caller reads it: without the values they sent, which may hold
// a secret beside what is wrong. By search and not by regular expressions: the texts may have megabytes.
import type { GraphQLError } from 'graphql'
import { type AppError, badRequest } from '../errors.ts'

export const maxErrors = 20

// graphql's own words before it prints a value, and what of them is shown; names, which is all else it quotes, hold
// none.
const beforeValue: Record<string, string> = {
  ' value: ': ' value',
  ' has invalid value ': ' has invalid value',
  ', found ': '',
}

/** Of the parser or the validation. The parser quotes one token, and the place is found by it. */
export const documentError = ({ message }: GraphQLError): AppError =>
  badRequest(message.startsWith('Syntax Error') ? message : withoutValue(message))

/** Of a variable, at a path of names of the schema and positions in lists. */
export function variableError(
  variable: string,
  path: readonly (string | number)[],
  { message }: GraphQLError,
): AppError {
  const place = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
  // These two quote a name of the caller's, which may hold any words.
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
