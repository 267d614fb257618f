import { expect, test } from 'vitest'
import { createTextFilters } from './user-filters.ts'

test.each([
  ['', [undefined]],
  ['Ada', ['externalName', 'externalUsername']],
  ['ada@', ['externalEmail', 'externalUsername']],
  ['01a1dce9-d14b-710f-8f00-9a2d1f20ecbb', ['id']],
])('%j is searched in the fields %j', (text, fields) => {
  expect(createTextFilters(text).map(([filter]) => filter?.field)).toEqual(fields)
})
