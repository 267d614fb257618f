import { expect, test } from 'vitest'
import { isFiltered, selectTriggers } from './trigger-rows.ts'
import type { TriggerRow } from './trigger-types.ts'

const createRow = (id: string, changes: Partial<TriggerRow>): TriggerRow => ({
  id,
  name: id,
  description: '',
  cronExpression: '@daily',
  runKey: '',
  enabled: true,
  createdAt: '2026-11-19T10:00:00Z',
  updatedAt: '2026-11-19T10:00:00Z',
  revision: 1,
  application: { id: 'app', name: 'Shop' },
  ...changes,
})
const rows = [
  createRow('c', { name: 'Cleanup', enabled: false }),
  createRow('a', { name: 'Alerts', runKey: 'nightly.alerts' }),
  createRow('b', { name: 'Bills' }),
]
const idsOf = (search: Record<string, string>, sort: Parameters<typeof selectTriggers>[2] = null) =>
  selectTriggers(rows, search, sort).map(({ id }) => id)

test('the rows are sorted by name, or as the address says', () => {
  expect(idsOf({})).toEqual(['a', 'b', 'c'])
  expect(idsOf({}, { field: 'name', direction: 'DESC' })).toEqual(['c', 'b', 'a'])
  expect(idsOf({}, { field: 'enabled', direction: 'DESC' })).toEqual(['c', 'a', 'b'])
  expect(idsOf({}, { field: 'unknown', direction: 'ASC' })).toEqual(['a', 'b', 'c'])
})

test('the text matches names and run keys, and an id as a whole', () => {
  expect(idsOf({ q: 'NIGHT' })).toEqual(['a'])
  expect(idsOf({ q: 'b' })).toEqual(['b'])
  expect(idsOf({ status: 'disabled' })).toEqual(['c'])
})

test('unknown parameters do not limit the list', () => {
  expect(idsOf({ status: 'broken' })).toEqual(['a', 'b', 'c'])
  expect(isFiltered({ status: 'broken', page: '2' })).toBe(false)
  expect(isFiltered({ application: 'app' })).toBe(true)
})
