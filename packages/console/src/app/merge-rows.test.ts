import { expect, test } from 'vitest'
import { mergeRows, showAll } from './merge-rows.ts'

type Row = { id: string; state?: string }
const toRows = (ids: string): Row[] => ids.split('').map((id) => ({ id }))
const ids = (rows: readonly Row[]): string => rows.map(({ id }) => id).join('')
const isWhole = false

test('new rows at the top are held back and counted', () => {
  const merged = mergeRows(showAll(toRows('cba')), { rows: toRows('edcb'), isWhole })
  expect(ids(merged.rows)).toBe('cba')
  expect(merged).toMatchObject({ newCount: 2, isNewCountExact: true, gone: new Set() })
})

test('changed rows change in place', () => {
  const merged = mergeRows(showAll(toRows('ba')), {
    rows: [{ id: 'b', state: 'ok' }, ...toRows('a')],
    isWhole,
  })
  expect(merged.rows).toEqual([{ id: 'b', state: 'ok' }, { id: 'a' }])
  expect(merged.newCount).toBe(0)
})

test('a page on which every row is new counts at least as many', () => {
  const merged = mergeRows(showAll(toRows('ba')), { rows: toRows('zy'), isWhole })
  expect(ids(merged.rows)).toBe('ba')
  expect(merged).toMatchObject({ newCount: 2, isNewCountExact: false, gone: new Set() })
})

test('removed rows stay until they are shown, also if they were removed before', () => {
  const first = mergeRows(showAll(toRows('dcba')), { rows: toRows('dba'), isWhole })
  expect(ids(first.rows)).toBe('dcba')
  expect(first.gone).toEqual(new Set('c'))
  const second = mergeRows(first, { rows: toRows('fed'), isWhole })
  expect(ids(second.rows)).toBe('dcba')
  expect(second).toMatchObject({ gone: new Set('c'), newCount: 2 })
})

test('at the end of a page, missing rows have moved to the next one; in a whole list, they are gone', () => {
  expect(mergeRows(showAll(toRows('cba')), { rows: toRows('dcb'), isWhole }).gone.size).toBe(0)
  expect(mergeRows(showAll(toRows('cba')), { rows: toRows('dcb'), isWhole: true }).gone).toEqual(new Set('a'))
  expect(mergeRows(showAll(toRows('ba')), { rows: [], isWhole: true }).gone).toEqual(new Set('ba'))
})

test('rows after the last one are appended, because they move no other row', () => {
  const merged = mergeRows(showAll(toRows('dcb')), { rows: toRows('dba'), isWhole })
  expect(ids(merged.rows)).toBe('dcba')
  expect(merged).toMatchObject({ gone: new Set('c'), newCount: 0 })
})

test('a row that comes back is not gone', () => {
  const without = mergeRows(showAll(toRows('cba')), { rows: toRows('ca'), isWhole })
  expect(mergeRows(without, { rows: toRows('cba'), isWhole }).gone.size).toBe(0)
})

test('the first rows of an empty list are shown immediately', () => {
  const merged = mergeRows(showAll<Row>([]), { rows: toRows('ba'), isWhole })
  expect(ids(merged.rows)).toBe('ba')
  expect(merged.newCount).toBe(0)
})

test('a page that is read for a long time stays bounded', () => {
  const many = Array.from({ length: 500 }, (_, index) => ({ id: `row-${index}` }))
  const merged = mergeRows(showAll(many), { rows: [...many.slice(450), { id: 'next' }], isWhole })
  expect(merged.rows).toHaveLength(500)
})
