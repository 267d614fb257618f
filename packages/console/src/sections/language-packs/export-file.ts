// Writes the stored translations of packs as CSV or JSON. The import reads both.
import { findSaved } from './edits.ts'
import type { Contents, Pack } from './pack-types.ts'

const listKeys = (packs: readonly Pack[], contents: Contents): readonly string[] =>
  [...new Set(packs.flatMap(({ id }) => [...(contents.get(id)?.values.keys() ?? [])]))].toSorted()

/** A column with the keys and a column per locale. Missing translations are empty cells. */
export const toCsvRows = (packs: readonly Pack[], contents: Contents): readonly (readonly string[])[] => [
  ['key', ...packs.map(({ name }) => name)],
  ...listKeys(packs, contents).map((key) => [
    key,
    ...packs.map(({ id }) => findSaved(contents, id, key) ?? ''),
  ]),
]

/** An object per locale, with flat keys. */
export const toJson = (packs: readonly Pack[], contents: Contents): string =>
  `${JSON.stringify(
    Object.fromEntries(
      packs.map(({ id, name }) => [
        name,
        Object.fromEntries(
          [...(contents.get(id)?.values ?? [])].toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
        ),
      ]),
    ),
    null,
    2,
  )}\n`
