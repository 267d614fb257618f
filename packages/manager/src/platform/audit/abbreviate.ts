// What an audit row shows of values that may be long: it stays small for every change. Pure.
import { createHash } from 'node:crypto'

const maxLength = 200

/** A digest that tells two contents apart. */
export const digestOf = (text: string): string => `sha256 ${createHash('sha256').update(text).digest('hex')}`

/** A text: whole while it is short, else its beginning and its digest. */
export const abbreviate = (text: string): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}… (${digestOf(text)})`

/** A list: whole while it is short, else the number of its entries and their digest. */
export function abbreviateList(list: readonly string[]): readonly string[] | string {
  const text = JSON.stringify(list)
  return text.length <= maxLength * 5 ? list : `${list.length} entries (${digestOf(text)})`
}
