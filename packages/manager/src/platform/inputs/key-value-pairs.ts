// Key-value lists in settings and language packs: how they are validated, and how an audit row shows their changes.
import { digestOf, abbreviate } from '../audit/abbreviate.ts'
import { badRequest } from '../errors.ts'
import { hasForbiddenCharacters, isLongerThan } from './inputs.ts'

/** A pair with the field names of the API. */
export type KeyValuePair = { Key: string; Value: string }

const pairLimits = { count: 10_000, keyLength: 500, bytes: 2 * 1_048_576 } as const

const shownKeys = 100

/**
 * Returns copies of the pairs. Throws 400 if they are too many or too large, if a key is blank or repeated, or if a
 * text has forbidden characters.
 */
export function checkPairs(pairs: readonly KeyValuePair[], field: string): KeyValuePair[] {
  if (pairs.length > pairLimits.count)
    throw badRequest(`${field} must have at most ${pairLimits.count} entries`)
  const seen = new Set<string>()
  let bytes = 0
  for (const { Key, Value } of pairs) {
    if (Key.trim() === '' || isLongerThan(Key, pairLimits.keyLength))
      throw badRequest(`every Key of ${field} must have 1 to ${pairLimits.keyLength} characters`)
    if (hasForbiddenCharacters(Key) || hasForbiddenCharacters(Value))
      throw badRequest(`${field} must not contain control characters or malformed Unicode`)
    if (seen.has(Key)) throw badRequest(`${field} has the Key ${JSON.stringify(Key)} more than once`)
    seen.add(Key)
    bytes += Buffer.byteLength(Key) + Buffer.byteLength(Value)
  }
  if (bytes > pairLimits.bytes)
    throw badRequest(`${field} must have at most ${pairLimits.bytes} bytes of keys and values`)
  return pairs.map(({ Key, Value }) => ({ Key, Value }))
}

type Fields = Record<string, string>

/**
 * Returns the pairs that differ, as audit row fields named `<field>.<key>`. If more than 100 differ, it returns the
 * first 100 and a digest of all pairs.
 */
export function changedPairs(
  field: string,
  before: readonly KeyValuePair[],
  after: readonly KeyValuePair[],
): { before: Fields; after: Fields } {
  const [from, to] = [toMap(before), toMap(after)]
  const changed = [...new Set([...from.keys(), ...to.keys()])].filter((key) => from.get(key) !== to.get(key))
  const shown = { before: {} as Fields, after: {} as Fields }
  for (const key of changed.toSorted().slice(0, shownKeys))
    for (const [side, pairs] of [
      ['before', from],
      ['after', to],
    ] as const) {
      const value = pairs.get(key)
      if (value !== undefined) shown[side][`${field}.${abbreviate(key)}`] = abbreviate(value)
    }
  if (changed.length > shownKeys) {
    const name = `${field} (${changed.length - shownKeys} more)`
    shown.before[name] = digestOf(JSON.stringify(before))
    shown.after[name] = digestOf(JSON.stringify(after))
  }
  return shown
}

const toMap = (pairs: readonly KeyValuePair[]): Map<string, string> =>
  new Map(pairs.map(({ Key, Value }) => [Key, Value]))
