// What a place in the file must hold; the text of a refusal names the place.
import { Failure } from '../failures.ts'

/** Keys and values. */
export function asMap(value: unknown, at: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Failure('usage', `${at}: keys and values are expected.`)
  return value as Record<string, unknown>
}

export function asList(value: unknown, at: string): unknown[] {
  if (!Array.isArray(value)) throw new Failure('usage', `${at}: a list is expected.`)
  return value
}

/** A text that is not empty. */
export function asText(value: unknown, at: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new Failure(
    'usage',
    `${at}: a text is expected${typeof value === 'number' ? '; put it in quotes' : ''}.`,
  )
}

/** A list of texts. */
export const asTexts = (value: unknown, at: string): string[] =>
  asList(value, at).map((one, index) => asText(one, `${at}[${index}]`))

/** Refuses keys that are not known: a typing error must not be passed over. */
export function unknownKeys(map: Record<string, unknown>, known: readonly string[], at: string): void {
  const unknown = Object.keys(map).find((key) => !known.includes(key))
  if (unknown !== undefined)
    throw new Failure('usage', `${at}: ${unknown} is not known here. Known are: ${known.join(', ')}.`)
}
