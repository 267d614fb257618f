// Changes that are not saved yet. Each change remembers the stored value that the person saw, so that a change of
// another person is noticed key by key.
import type { Contents } from './pack-types.ts'

export type Edit = {
  readonly packId: string
  readonly key: string
  /** The stored value when the person made the change; null if the translation was missing. */
  readonly base: string | null
  /** The new value; null removes the translation. */
  readonly value: string | null
}
export type Change = Omit<Edit, 'base'>
/** Edits by cell. */
export type Edits = ReadonlyMap<string, Edit>

export const toCellId = (packId: string, key: string): string => `${packId}/${key}`

export const findSaved = (contents: Contents, packId: string, key: string): string | null =>
  contents.get(packId)?.values.get(key) ?? null

/** Adds changes to the edits. A change to the stored value removes the edit. */
export function applyChanges(edits: Edits, changes: readonly Change[], contents: Contents): Edits {
  const next = new Map(edits)
  for (const { packId, key, value } of changes) {
    const id = toCellId(packId, key)
    const saved = findSaved(contents, packId, key)
    const previous = next.get(id)
    if (value === saved) next.delete(id)
    else next.set(id, { packId, key, value, base: previous === undefined ? saved : previous.base })
  }
  return next
}

/** Returns whether an edit differs from the stored value. Another person can have saved the same text. */
export const isPending = ({ packId, key, value }: Edit, contents: Contents): boolean =>
  !contents.has(packId) || findSaved(contents, packId, key) !== value

/** Returns whether another person has changed the stored value since the edit was made. */
export const isConflict = ({ packId, key, base }: Edit, contents: Contents): boolean =>
  contents.has(packId) && findSaved(contents, packId, key) !== base

/** The limits of one request. */
export type Limits = {
  readonly keys: number
  readonly packs: number
  /** The size of the changes. */
  readonly bytes: number
  /** The size of the stored contents of all packs that a request changes. */
  readonly contentBytes: number
}

const countBytes = ({ key, value }: Edit): number => 3 * (key.length + (value?.length ?? 0))

type Part = { readonly edits: Edit[]; readonly packs: Set<string>; bytes: number; contentBytes: number }

const createPart = (): Part => ({ edits: [], packs: new Set(), bytes: 0, contentBytes: 0 })

/** Splits edits into few requests. Edits of one pack stay together if they fit. */
export function splitEdits(
  edits: readonly Edit[],
  limits: Limits,
  getContentBytes: (packId: string) => number,
): readonly (readonly Edit[])[] {
  const parts = [createPart()]
  for (const [packId, own] of Map.groupBy(edits, (edit) => edit.packId)) {
    const contentBytes = getContentBytes(packId)
    for (const edit of own) {
      let part = parts.at(-1) ?? createPart()
      const isNew = !part.packs.has(packId)
      const isFull =
        part.edits.length >= limits.keys ||
        part.bytes + countBytes(edit) > limits.bytes ||
        (isNew && part.packs.size >= limits.packs) ||
        (isNew && part.contentBytes + contentBytes > limits.contentBytes)
      if (isFull && part.edits.length > 0) {
        part = createPart()
        parts.push(part)
      }
      if (!part.packs.has(packId)) part.contentBytes += contentBytes
      part.packs.add(packId)
      part.edits.push(edit)
      part.bytes += countBytes(edit)
    }
  }
  return parts.map((part) => part.edits).filter((part) => part.length > 0)
}

/** Returns the values with edits applied. */
export function applyEdits(
  values: ReadonlyMap<string, string>,
  edits: readonly Edit[],
): ReadonlyMap<string, string> {
  const next = new Map(values)
  for (const { key, value } of edits)
    if (value === null) next.delete(key)
    else next.set(key, value)
  return next
}
