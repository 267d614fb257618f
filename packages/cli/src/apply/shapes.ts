// Checks the types of values in the file. Error messages name the position of the value.
import { Failure } from '../failures.ts'

export function asMap(value: unknown, at: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Failure('usage', `${at}: expected a map.`)
  return value as Record<string, unknown>
}

export function asList(value: unknown, at: string): unknown[] {
  if (!Array.isArray(value)) throw new Failure('usage', `${at}: expected a list.`)
  return value
}

/** Returns the value if it is a non-empty string. Throws otherwise. */
export function asText(value: unknown, at: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new Failure(
    'usage',
    `${at}: expected a non-empty string${typeof value === 'number' ? '; put the value in quotes' : ''}.`,
  )
}

export function asBoolean(value: unknown, at: string): boolean {
  if (typeof value !== 'boolean') throw new Failure('usage', `${at}: expected true or false.`)
  return value
}

export const asTexts = (value: unknown, at: string): string[] =>
  asList(value, at).map((one, index) => asText(one, `${at}[${index}]`))

/** Rejects unknown keys, so that a typo causes an error. */
export function rejectUnknownKeys(map: Record<string, unknown>, known: readonly string[], at: string): void {
  const unknownKey = Object.keys(map).find((key) => !known.includes(key))
  if (unknownKey !== undefined)
    throw new Failure('usage', `${at}: unknown key ${unknownKey}. Known keys: ${known.join(', ')}.`)
}
