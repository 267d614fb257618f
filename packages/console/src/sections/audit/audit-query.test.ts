import { expect, test } from 'vitest'
import { isFiltered, toAuditQuery } from './audit-query.ts'

const now = Date.parse('2026-11-19T10:20:30Z')
const id = '01a1dce9-d14b-710f-8f2a-5c1f9be20ecb'
const nothing = { entityId: null, userId: null, from: null, to: null, text: null, filters: [] }
const description = (value: string) => ({ field: 'description', value })

test('an address without filters selects everything', () => {
  expect(toAuditQuery({ open: '7', page: '2' }, now)).toEqual(nothing)
  expect(isFiltered({ open: '7', page: '2' })).toBe(false)
  expect(isFiltered({ from: '2026-11-01' })).toBe(true)
})

test('person, kind, object and action are joined', () => {
  expect(toAuditQuery({ person: id, entity: 'tenant', id, action: 'update' }, now)).toEqual({
    ...nothing,
    userId: id,
    entityId: id,
    filters: [
      { field: 'entityType', value: 'tenant' },
      { field: 'action', value: 'update' },
    ],
  })
})

test('a text is searched everywhere within a day, and in descriptions otherwise', () => {
  const day = toAuditQuery({ q: 'acme', range: '24h' }, now)
  expect([day.text, day.filters]).toEqual(['acme', []])
  for (const range of [undefined, '7d'])
    expect(toAuditQuery({ q: 'acme', range }, now)).toMatchObject({
      text: null,
      filters: [description('acme')],
    })
})

test('an id as text selects its object, unless an object is already chosen', () => {
  expect(toAuditQuery({ q: id, range: '24h' }, now)).toMatchObject({ entityId: id, text: null, filters: [] })
  expect(toAuditQuery({ q: id, id: 'other' }, now)).toMatchObject({
    entityId: 'other',
    filters: [description(id)],
  })
})

test('a person that is not an id is ignored, because the API would reject the request', () => {
  expect(toAuditQuery({ person: 'anna' }, now).userId).toBeNull()
})
