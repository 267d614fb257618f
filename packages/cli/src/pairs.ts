import { Failure } from './failures.ts'
import type { Pair } from './field-options.ts'

/** Parses an argument of the form key=value. */
export function parsePair(text: string): Pair {
  const separator = text.indexOf('=')
  if (separator < 1) throw new Failure('usage', `${text} is not a key with a value. Use key=value.`)
  return { Key: text.slice(0, separator), Value: text.slice(separator + 1) }
}
