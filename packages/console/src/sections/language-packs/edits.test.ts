import { expect, test } from 'vitest'
import { type Edit, applyChanges, isConflict, isPending, splitEdits, toCellId } from './edits.ts'
import type { Contents } from './pack-types.ts'

const createContents = (values: Readonly<Record<string, string>>): Contents =>
  new Map([['de', { revision: 1, values: new Map(Object.entries(values)) }]])
const change = (key: string, value: string | null) => ({ packId: 'de', key, value })

test('a change back to the stored value is not an edit', () => {
  const contents = createContents({ open: 'Öffnen' })
  const edits = applyChanges(new Map(), [change('open', 'Auf'), change('close', 'Zu')], contents)
  expect([...edits.values()]).toEqual([
    { packId: 'de', key: 'open', base: 'Öffnen', value: 'Auf' },
    { packId: 'de', key: 'close', base: null, value: 'Zu' },
  ])
  expect([...applyChanges(edits, [change('open', 'Öffnen'), change('close', null)], contents)]).toEqual([])
})

test('an edit keeps the value that the person saw first, and conflicts when the stored value has changed', () => {
  const edits = applyChanges(new Map(), [change('open', 'Auf')], createContents({ open: 'Öffnen' }))
  const theirs = createContents({ open: 'Aufmachen' })
  const again = applyChanges(edits, [change('open', 'Auf!')], theirs).get(toCellId('de', 'open'))
  expect(again).toEqual({ packId: 'de', key: 'open', base: 'Öffnen', value: 'Auf!' })
  expect(isConflict(again as Edit, theirs)).toBe(true)
  const added = applyChanges(new Map(), [change('close', 'Zu')], createContents({}))
  const changed = applyChanges(added, [change('close', 'Zu!')], createContents({ close: 'Schließen' }))
  expect(changed.get(toCellId('de', 'close'))?.base).toBe(null)
  expect(isConflict(again as Edit, createContents({ open: 'Öffnen' }))).toBe(false)
})

test('an edit that another person has saved as well is done', () => {
  const [edit] = [...applyChanges(new Map(), [change('open', 'Auf')], createContents({})).values()]
  const check = (contents: Contents): boolean => isPending(edit as Edit, contents)
  expect([createContents({ open: 'Auf' }), createContents({}), new Map()].map(check)).toEqual([
    false,
    true,
    true,
  ])
})

const createEdits = (packId: string, count: number, length = 1): Edit[] =>
  Array.from({ length: count }, (_, index) => ({
    packId,
    key: `k${index}`,
    base: null,
    value: 'x'.repeat(length),
  }))
const limits = { keys: 1_000, packs: 2, bytes: 15_000, contentBytes: 100 }
const split = (edits: readonly Edit[], contentBytes = 10) =>
  splitEdits(edits, limits, () => contentBytes).map((part) => [
    part.length,
    ...new Set(part.map((edit) => edit.packId)),
  ])

test('edits are split by the limits of a request', () => {
  expect(split(createEdits('de', 500))).toEqual([[500, 'de']])
  expect(split([...createEdits('de', 250), ...createEdits('en', 250)])).toEqual([[500, 'de', 'en']])
  expect(split(['de', 'en', 'fr'].flatMap((id) => createEdits(id, 2)))).toEqual([
    [4, 'de', 'en'],
    [2, 'fr'],
  ])
  expect(
    split(
      ['de', 'en'].flatMap((id) => createEdits(id, 2)),
      60,
    ),
  ).toEqual([
    [2, 'de'],
    [2, 'en'],
  ])
  expect(split(createEdits('de', 3, 4_000))).toEqual([
    [1, 'de'],
    [1, 'de'],
    [1, 'de'],
  ])
  expect(split(createEdits('de', 1_001))).toEqual([
    [1_000, 'de'],
    [1, 'de'],
  ])
  expect(split(createEdits('de', 1, 100_000))).toEqual([[1, 'de']])
  expect(split([])).toEqual([])
})
