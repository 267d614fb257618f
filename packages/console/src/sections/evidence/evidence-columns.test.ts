import { expect, test } from 'vitest'
import { isInstant, listColumns, searchRows, toCell, toRowId, toText } from './evidence-columns.ts'

const names = [
  'occurred_at',
  'action',
  'entity_type',
  'description',
  'principal_type',
  'principal_id',
  'principal_name',
  'principal_email',
  'project_id',
  'project_name',
  'changes',
  'chain_id',
  'seq',
]
const row = {
  occurred_at: '2026-11-19T10:00:00.000Z',
  action: 'grant',
  entity_type: 'user2project',
  description: 'role granted',
  principal_type: 'user',
  principal_id: 'id-1',
  principal_name: null,
  principal_email: 'anna@example.com',
  project_id: null,
  project_name: null,
  changes: { role: { before: null, after: 'owner' } },
  chain_id: 'chain',
  seq: 7,
}

test('the table has the columns that people need, without empty ones', () => {
  const columns = listColumns(names, [row])
  expect(columns.map(({ title }) => title)).toEqual(['Occurred at', 'Description', 'Principal', 'Changes'])
  const principal = columns[2]
  expect(principal && toCell(principal, row)).toEqual(['id-1', 'user, anna@example.com'])
  expect(columns[1] && toCell(columns[1], row)).toEqual(['role granted', 'user2project, grant'])
  expect(listColumns(names, [])).toEqual([])
  expect(listColumns(['action', 'changes'], [{ action: 'read', changes: {} }])).toHaveLength(1)
})

test('values of every kind have a text', () => {
  expect(toText({ ...row.changes, project: null })).toBe('role: owner')
  expect(toText({ a: { before: 1, after: null }, b: [true, 'x'] })).toBe('a: 1 → –; b: true, x')
  expect([toText(null), toText(''), toText(0), toText(false)]).toEqual(['', '', '0', 'false'])
  expect([isInstant(row.occurred_at), isInstant('2026-11-19')]).toEqual([true, false])
})

test('a row is found by any of its values, and has a stable id', () => {
  const rows = [{ values: row }, { values: { action: 'revoke' } }]
  expect(searchRows(rows, 'OWNER')).toEqual([rows[0]])
  expect(searchRows(rows, '')).toBe(rows)
  expect([toRowId(row, 3), toRowId({}, 3)]).toEqual(['chain.7', 'row.3'])
})
