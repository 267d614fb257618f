// Tests that a page in memory is the same as a page of a table.
import { expect, test } from 'vitest'
import { encodeListCursor } from './cursor.ts'
import { type ListArgs, readPage } from './filters.ts'
import { pageInMemory } from './memory-page.ts'

const fields = {
  id: { column: 'id', match: 'id' },
  name: { column: 'shownName', match: 'text' },
  team: { column: 'team', match: 'exact' },
} as const

const toId = (number: number): string => `00000000-0000-4000-8000-00000000000${number}`
const rows = [
  { id: toId(3), shownName: 'Cem', team: 'b' },
  { id: toId(1), shownName: 'Ada', team: 'a' },
  { id: toId(4), shownName: 'ada', team: 'b' },
  { id: toId(2), shownName: 'Bea', team: 'b' },
  { id: toId(5), shownName: 'Bea', team: 'a' },
]
const page = (args: ListArgs) =>
  pageInMemory(
    { rows, isTruncated: false },
    readPage(fields, args),
    (row, column) => row[column as keyof typeof row],
  )
const numbers = (args: ListArgs) => page(args).map(({ id }) => Number(id.slice(-1)))

test('filters, order and pages apply, and ties are broken by id', () => {
  expect(numbers({})).toEqual([1, 2, 3, 4, 5])
  expect(numbers({ order: [{ field: 'name' }] })).toEqual([4, 1, 2, 5, 3])
  expect(numbers({ order: [{ field: 'name', direction: 'DESC' }] })).toEqual([3, 2, 5, 1, 4])
  expect(numbers({ order: [{ field: 'team' }, { field: 'name', direction: 'DESC' }] })).toEqual([
    5, 1, 3, 2, 4,
  ])
  expect(numbers({ filters: [{ field: 'name', value: 'AD' }] })).toEqual([1, 4])
  expect(numbers({ filters: [{ field: 'team', value: 'A' }] })).toEqual([])
  expect(numbers({ filters: [{ field: 'id', value: toId(2) }] })).toEqual([2])
  expect(numbers({ pagination: { limit: 1, offset: 3 } })).toEqual([4])
  expect(numbers({ pagination: { limit: 10, offset: 5 } })).toEqual([])
})

test('a cursor leads to the rows behind it, in every order', () => {
  for (const order of [
    [],
    [{ field: 'name', direction: 'DESC' as const }],
    [{ field: 'team' }, { field: 'name' }],
  ]) {
    const all = page({ order, reading: { hasCursors: true } })
    for (const [index, row] of all.entries()) {
      const after = encodeListCursor(row.listCursor as string)
      const rest = page({ order, reading: { after } })
      expect(rest.map(({ id }) => id)).toEqual(all.slice(index + 1).map(({ id }) => id))
    }
  }
})

test('a cursor of another order is refused', () => {
  const [first] = page({ reading: { hasCursors: true } })
  const after = encodeListCursor(first?.listCursor as string)
  expect(() => page({ order: [{ field: 'name' }], reading: { after } })).toThrow(
    'after is not a valid cursor',
  )
  expect(() => page({ reading: { after: 'garbage' } })).toThrow('after is not a valid cursor')
})

test('the total counts the rows of all pages', () => {
  const filters = [{ field: 'team', value: 'b' }]
  for (const offset of [0, 10])
    expect(page({ filters, pagination: { limit: 1, offset } }).listCount).toEqual({ total: 3, isExact: true })
  const truncated = pageInMemory({ rows: [], isTruncated: true }, readPage(fields, {}), () => '')
  expect(truncated.listCount).toEqual({ total: 0, isExact: false })
})
