// Key-value lists in settings and language packs: how they are validated, and how an audit row shows their changes.
import { computeDigest, abbreviate } from '../audit/abbreviate.ts'
import { badRequest } from '../errors.ts'
import { checkAt, checkEach, checkFields } from './fields.ts'
import { hasForbiddenCharacters, isLongerThan } from './inputs.ts'

/** A pair with the field names of the API. */
export type KeyValuePair = { Key: string; Value: string }

const pairLimits = { count: 10_000, keyLength: 500, bytes: 2 * 1_048_576 } as const

const maxListedKeys = 100

/**
 * Returns copies of the pairs. Throws 400 if they are too many or too large, if a key is blank or repeated,
 * or if a key or value has forbidden characters.
 */
export function checkPairs(pairs: readonly KeyValuePair[], field: string): KeyValuePair[] {
  if (pairs.length > pairLimits.count)
    throw badRequest(`${field} must have at most ${pairLimits.count} entries`)
  const seenKeys = new Set<string>()
  const copies = checkEach(pairs, (pair) => checkPair(pair, field, seenKeys))
  const bytes = copies.reduce(
    (sum, { Key, Value }) => sum + Buffer.byteLength(Key) + Buffer.byteLength(Value),
    0,
  )
  if (bytes > pairLimits.bytes)
    throw badRequest(`${field} must contain at most ${pairLimits.bytes} bytes of keys and values`)
  return copies
}

function checkPair({ Key, Value }: KeyValuePair, field: string, seenKeys: Set<string>): KeyValuePair {
  const forbidden = `${field} must not contain control characters or malformed Unicode`
  const problems = {
    Key:
      Key.trim() === '' || isLongerThan(Key, pairLimits.keyLength)
        ? `every Key of ${field} must have 1 to ${pairLimits.keyLength} characters`
        : hasForbiddenCharacters(Key)
          ? forbidden
          : seenKeys.has(Key)
            ? `${field} has the Key ${JSON.stringify(Key)} more than once`
            : null,
    Value: hasForbiddenCharacters(Value) ? forbidden : null,
  }
  seenKeys.add(Key)
  // Valid pairs return early, because a list can contain thousands of pairs.
  if (problems.Key === null && problems.Value === null) return { Key, Value }
  checkFields({ Key: () => rejectIf(problems.Key), Value: () => rejectIf(problems.Value) })
  return { Key, Value }
}

function rejectIf(problem: string | null): void {
  if (problem !== null) throw badRequest(problem)
}

/** Keys to set and to remove in a key-value list; all others keep their values. */
export type KeyChanges = {
  readonly set?: readonly KeyValuePair[] | null
  readonly unset?: readonly string[] | null
}

/** Limits of one mutation that changes keys in several objects. */
const keyChangeLimits = { keys: 1_000, objects: 100, bytes: 16 * 1_048_576 } as const

/** Throws 400 if `changes` contains no keys, too many keys or too many objects. */
export function checkKeyCount(
  changes: readonly {
    readonly set?: readonly unknown[] | null
    readonly unset?: readonly unknown[] | null
  }[],
  objects: number,
): void {
  const keys = changes.reduce((sum, { set, unset }) => sum + (set?.length ?? 0) + (unset?.length ?? 0), 0)
  if (keys === 0) throw badRequest('changes must set or unset at least one key', 'changes')
  if (keys > keyChangeLimits.keys)
    throw badRequest(
      `changes must set and unset at most ${keyChangeLimits.keys} keys; send several requests`,
      'changes',
    )
  if (changes.length > keyChangeLimits.keys)
    throw badRequest(
      `changes must have at most ${keyChangeLimits.keys} entries; send several requests`,
      'changes',
    )
  if (objects > keyChangeLimits.objects)
    throw badRequest(
      `changes must name at most ${keyChangeLimits.objects} objects; send several requests`,
      'changes',
    )
}

/** Throws 400 if the objects are too large to change in one transaction. */
export function checkChangedBytes(bytes: readonly number[]): void {
  if (bytes.reduce((sum, one) => sum + one, 0) > keyChangeLimits.bytes)
    throw badRequest(
      `the changed objects must have at most ${keyChangeLimits.bytes} bytes in total; send several requests`,
      'changes',
    )
}

/**
 * Applies the changes of several objects, and checks all objects together. Problems with an object have the path of
 * its first entry in the list `changes`, because they can concern stored keys.
 */
export function changeObjects<Row extends { id: string }, Change, Result>(
  changes: readonly Change[],
  { rows, changesById }: { rows: readonly Row[]; changesById: ReadonlyMap<string, readonly Change[]> },
  apply: (row: Row, rowChanges: readonly Change[]) => Result,
): Result[] {
  const checks = rows.map((row) => {
    const rowChanges = changesById.get(row.id) ?? []
    const path = `changes.${changes.indexOf(rowChanges[0] as Change)}`
    return [path, () => checkAt('', () => apply(row, rowChanges))] as const
  })
  return Object.values(checkFields(Object.fromEntries(checks)))
}

/** Merges several changes of the same list into one. Throws 400 if they name a key more than once. */
export function joinKeyChanges(changes: readonly KeyChanges[]): KeyChanges {
  const set = changes.flatMap((one) => one.set ?? [])
  const unset = changes.flatMap((one) => one.unset ?? [])
  const named = new Set<string>()
  for (const key of [...unset, ...set.map(({ Key }) => Key)]) {
    if (named.has(key))
      throw badRequest(`changes must name the Key ${JSON.stringify(key.slice(0, 100))} only once`)
    named.add(key)
  }
  return { set, unset }
}

/** Returns the pairs with the changes applied. New keys come last. */
export function applyKeyChanges(pairs: readonly KeyValuePair[], { set, unset }: KeyChanges): KeyValuePair[] {
  const values = toMap(pairs)
  for (const key of unset ?? []) values.delete(key)
  for (const { Key, Value } of set ?? []) values.set(Key, Value)
  return [...values].map(([Key, Value]) => ({ Key, Value }))
}

type Fields = Record<string, string>

/**
 * Returns the pairs that differ, as audit row fields named `<field>.<key>`. If more than 100 differ, it returns the
 * first 100 and a digest of all pairs.
 */
export function findChangedPairs(
  field: string,
  before: readonly KeyValuePair[],
  after: readonly KeyValuePair[],
): { before: Fields; after: Fields } {
  const [from, to] = [toMap(before), toMap(after)]
  const changedKeys = [...new Set([...from.keys(), ...to.keys()])].filter(
    (key) => from.get(key) !== to.get(key),
  )
  const changes = { before: {} as Fields, after: {} as Fields }
  for (const key of changedKeys.toSorted().slice(0, maxListedKeys))
    for (const [side, pairs] of [
      ['before', from],
      ['after', to],
    ] as const) {
      const value = pairs.get(key)
      if (value !== undefined) changes[side][`${field}.${abbreviate(key)}`] = abbreviate(value)
    }
  if (changedKeys.length > maxListedKeys) {
    const name = `${field} (${changedKeys.length - maxListedKeys} more)`
    changes.before[name] = computeDigest(JSON.stringify(before))
    changes.after[name] = computeDigest(JSON.stringify(after))
  }
  return changes
}

const toMap = (pairs: readonly KeyValuePair[]): Map<string, string> =>
  new Map(pairs.map(({ Key, Value }) => [Key, Value]))
