import { expect, test } from 'vitest'
import type { EndpointRow } from './endpoint-types.ts'
import { readEndpointFilters, selectEndpoints } from './select-endpoints.ts'

const row = (id: string, values: Partial<EndpointRow> = {}): EndpointRow => ({
  id,
  name: id,
  enabled: true,
  consumeURL: `/${id}`,
  url: null,
  authType: 'None',
  inputMessageType: null,
  outputMessageType: null,
  logLevel: 'BASIC',
  updatedAt: '2026-11-15T08:00:00Z',
  revision: 1,
  application: { id: 'a', name: 'Shop' },
  ...values,
})
const rows = [
  row('order 10', { consumeURL: '/orders' }),
  row('Order 9', { enabled: false, url: 'https://carrier.example/v2' }),
  row('invoice', { updatedAt: '2026-11-16T08:00:00Z' }),
]
const select = (search: Record<string, string>, field = 'name', direction: 'ASC' | 'DESC' = 'ASC') =>
  selectEndpoints(rows, readEndpointFilters(search), { field, direction }).map(({ id }) => id)

test('a text matches part of the name, the path or the target, or the whole id', () => {
  expect(select({ q: 'ORDER' })).toEqual(['Order 9', 'order 10'])
  expect(select({ q: '/orders' })).toEqual(['order 10'])
  expect(select({ q: 'carrier.example' })).toEqual(['Order 9'])
  expect(select({ q: ' invoice ' })).toEqual(['invoice'])
  expect(select({ q: 'nothing' })).toEqual([])
})

test('a status hides the other endpoints, and an unknown one hides none', () => {
  expect(select({ status: 'disabled' })).toEqual(['Order 9'])
  expect(select({ status: 'enabled', q: 'order' })).toEqual(['order 10'])
  expect(select({ status: 'other' })).toHaveLength(3)
})

test('rows are sorted by a column, then by name; an unknown column sorts by name', () => {
  expect(select({}, 'updatedAt', 'DESC')).toEqual(['invoice', 'Order 9', 'order 10'])
  expect(select({}, 'application')).toEqual(['invoice', 'Order 9', 'order 10'])
  expect(select({}, 'constructor')).toEqual(['invoice', 'Order 9', 'order 10'])
})
