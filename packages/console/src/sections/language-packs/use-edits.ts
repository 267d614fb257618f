// The unsaved changes of the page. They stay while the person filters, searches, or shows other locales.
import { useCallback, useMemo, useState } from 'react'
import { type Change, type Edit, type Edits, applyChanges, isPending, toCellId } from './edits.ts'
import type { Contents } from './pack-types.ts'

export type Draft = {
  /** The edits that differ from the stored values, by cell. */
  readonly edits: Edits
  /** Keys without translations that the person has added. */
  readonly newKeys: readonly string[]
  readonly change: (changes: readonly Change[]) => void
  readonly undo: (packId: string, key: string) => void
  readonly addKey: (key: string) => void
  readonly discard: () => void
  /** Removes saved edits, unless the person has changed them again. */
  readonly remove: (saved: readonly Edit[]) => void
  /** Replaces edits by others, or removes them. */
  readonly replace: (changes: ReadonlyMap<Edit, Edit | null>) => void
}

const noEdits: Edits = new Map()
const noKeys: readonly string[] = []

export function useEdits(contents: Contents): Draft {
  const [edits, setEdits] = useState(noEdits)
  const [added, setAdded] = useState(noKeys)
  const replace = useCallback(
    (changes: ReadonlyMap<Edit, Edit | null>) =>
      setEdits(
        (previous) =>
          new Map(
            [...previous].flatMap(([id, edit]) => {
              const next = changes.get(edit)
              return next === null ? [] : [[id, next ?? edit] as const]
            }),
          ),
      ),
    [],
  )
  const pending = useMemo(
    () => new Map([...edits].filter(([, edit]) => isPending(edit, contents))),
    [edits, contents],
  )
  const newKeys = useMemo(
    () => [...added, ...[...pending.values()].filter(({ base }) => base === null).map(({ key }) => key)],
    [added, pending],
  )
  return {
    edits: pending,
    newKeys,
    change: (changes) => setEdits((previous) => applyChanges(previous, changes, contents)),
    undo: (packId, key) =>
      setEdits((previous) => {
        const next = new Map(previous)
        next.delete(toCellId(packId, key))
        return next
      }),
    addKey: (key) => setAdded((previous) => [...previous, key]),
    discard: () => {
      setEdits(noEdits)
      setAdded(noKeys)
    },
    remove: (saved) => replace(new Map(saved.map((edit) => [edit, null]))),
    replace,
  }
}
