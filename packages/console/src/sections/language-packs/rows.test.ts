import { expect, test } from 'vitest'
import { choosePacks, countMissing, filterRows, listRows } from './rows.ts'
import type { Contents, Pack } from './pack-types.ts'

const createPack = (id: string): Pack => ({ id, name: id, revision: 1, updatedAt: '2026-01-01T00:00:00Z' })
const packs = ['de', 'en'].map(createPack)
const contents: Contents = new Map([
  [
    'de',
    {
      revision: 1,
      values: new Map([
        ['b', 'Zwei'],
        ['c', 'Drei'],
      ]),
    },
  ],
  [
    'en',
    {
      revision: 1,
      values: new Map([
        ['a', 'One'],
        ['c', 'Three'],
      ]),
    },
  ],
])
const edits = new Map([['de/a', { packId: 'de', key: 'a', base: null, value: 'Eins' }]])

test('new keys come first, then keys with missing translations', () => {
  const rows = listRows(packs, contents, ['z', 'a', 'z'])
  expect(rows).toEqual([
    { key: 'z', missing: 2 },
    { key: 'a', missing: 1 },
    { key: 'b', missing: 1 },
    { key: 'c', missing: 0 },
  ])
  expect(countMissing(rows, contents, 'de')).toBe(2)
})

test.each([
  [{ text: '', show: undefined }, ['a', 'b', 'c']],
  [{ text: 'thr', show: undefined }, ['c']],
  [{ text: 'EINS', show: undefined }, ['a']],
  [{ text: 'B', show: undefined }, ['b']],
  [{ text: '', show: 'missing' }, ['a', 'b']],
  [{ text: '', show: 'edited' }, ['a']],
  [{ text: 'two', show: 'missing' }, []],
])('the filter %j shows %j', (filter, keys) => {
  const rows = filterRows(listRows(packs, contents, []), filter, { packs, contents, edits })
  expect(rows.map(({ key }) => key)).toEqual(keys)
})

test('the address names the shown packs; otherwise, the first ones are shown', () => {
  const many = Array.from({ length: 30 }, (_, index) => createPack(`l${index}`))
  expect(choosePacks(packs, 'EN,fr')).toEqual([packs[1]])
  expect(choosePacks(packs, 'fr')).toEqual(packs)
  expect(choosePacks(many, undefined)).toHaveLength(6)
  expect(choosePacks(many, 'l1', 'l29').map(({ id }) => id)).toEqual(['l1', 'l29'])
  expect(choosePacks(many, many.map(({ name }) => name).join(','))).toHaveLength(20)
})
