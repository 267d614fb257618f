// Shortens long values for audit rows, so that every row stays small.
import { createHash } from 'node:crypto'

const maxLength = 200

/** Returns a SHA-256 digest that distinguishes different values in an audit row. */
export const computeDigest = (text: string): string =>
  `sha256 ${createHash('sha256').update(text).digest('hex')}`

/** Returns the text unchanged up to 200 characters, otherwise its start and its digest. */
export const abbreviate = (text: string): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}… (${computeDigest(text)})`

/** Returns the list unchanged up to 1,000 characters of JSON, otherwise its length and its digest. */
export function abbreviateList(list: readonly string[]): readonly string[] | string {
  const text = JSON.stringify(list)
  return text.length <= maxLength * 5 ? list : `${list.length} entries (${computeDigest(text)})`
}
