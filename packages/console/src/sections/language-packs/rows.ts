// The rows of the grid: all keys of the shown packs, those with missing translations first.
import { type Edits, findSaved, toCellId } from './edits.ts'
import type { Contents, Pack } from './pack-types.ts'

export type Row = {
  readonly key: string
  /** The number of shown packs that have no stored translation. */
  readonly missing: number
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Returns the rows in the order of the grid: new keys, keys with missing translations, all other keys. The order
 * depends on the stored values only, so that a row does not move while the person edits it.
 */
export function listRows(
  packs: readonly Pack[],
  contents: Contents,
  newKeys: readonly string[],
): readonly Row[] {
  const counts = new Map<string, number>()
  for (const { id } of packs)
    for (const key of contents.get(id)?.values.keys() ?? []) counts.set(key, (counts.get(key) ?? 0) + 1)
  const stored = [...counts]
    .map(([key, count]) => ({ key, missing: packs.length - count }))
    .toSorted((a, b) => Number(b.missing > 0) - Number(a.missing > 0) || compare(a.key, b.key))
  const added = [...new Set(newKeys)].filter((key) => !counts.has(key))
  return [...added.map((key) => ({ key, missing: packs.length })), ...stored]
}

type Filter = { readonly text: string; readonly show: string | undefined }

/** Returns the rows that match the filter. The text is searched in keys and in translations. */
export function filterRows(
  rows: readonly Row[],
  { text, show }: Filter,
  { packs, contents, edits }: { packs: readonly Pack[]; contents: Contents; edits: Edits },
): readonly Row[] {
  const wanted = text.toLowerCase()
  const hasText = (value: string | null | undefined): boolean =>
    value?.toLowerCase().includes(wanted) ?? false
  const isEdited = ({ key }: Row): boolean => packs.some(({ id }) => edits.has(toCellId(id, key)))
  const matches = ({ key }: Row): boolean =>
    hasText(key) ||
    packs.some(
      ({ id }) => hasText(findSaved(contents, id, key)) || hasText(edits.get(toCellId(id, key))?.value),
    )
  return rows.filter(
    (row) =>
      (wanted === '' || matches(row)) &&
      (show !== 'missing' || row.missing > 0) &&
      (show !== 'edited' || isEdited(row)),
  )
}

/** Counts the keys of the shown packs that a pack does not have. */
export const countMissing = (rows: readonly Row[], contents: Contents, packId: string): number =>
  rows.length - (contents.get(packId)?.values.size ?? 0)

export const maxShownPacks = 20
const defaultShownPacks = 6

/**
 * Returns the packs that the address names, separated by commas; the first ones if it names none. The open pack is
 * always shown.
 */
export function choosePacks(
  packs: readonly Pack[],
  names: string | undefined,
  openId: string | null = null,
): readonly Pack[] {
  const wanted = new Set((names ?? '').toLowerCase().split(','))
  const chosen = packs.filter(({ name }) => wanted.has(name.toLowerCase()))
  const shown = chosen.length > 0 ? chosen.slice(0, maxShownPacks) : packs.slice(0, defaultShownPacks)
  return packs.filter((pack) => shown.includes(pack) || pack.id === openId)
}
