import { expect, test } from 'vitest'
import { createFilters } from './pilet-filters.ts'

const id = '0197a7a4-1f0c-7e2a-8f6a-3d2f5b1c9e70'

test.each([
  ['', []],
  ['cart', [{ field: 'name', value: 'cart' }]],
  ['@shop/cart', [{ field: 'name', value: '@shop/cart' }]],
  [
    '@shop/cart@1.2.0',
    [
      { field: 'name', value: '@shop/cart' },
      { field: 'version', value: '1.2.0' },
    ],
  ],
  ['cart@', [{ field: 'name', value: 'cart@' }]],
  [id, [{ field: 'id', value: id }]],
])('the text %j becomes these filters', (q, filters) => {
  expect(createFilters({ q })).toEqual(filters)
})

test('an unknown status is ignored', () => {
  expect(createFilters({ status: 'disabled' })).toEqual([{ field: 'enabled', value: 'false' }])
  expect(createFilters({ status: 'other' })).toEqual([])
})
