import { expect, test } from 'vitest'
import { findIndex, findWordEnd } from './positions.ts'

test('a column counts characters, also those that take two units', () => {
  expect(findIndex('abc', 1)).toBe(0)
  expect(findIndex('abc', 3)).toBe(2)
  expect(findIndex('😀😀c', 3)).toBe(4)
  expect(findIndex('abc', 99)).toBe(3)
  expect(findIndex('', 5)).toBe(0)
})

test('the marked expression is a path, a name, or one character', () => {
  const end = (line: string, index: number) => line.slice(index, findWordEnd(line, index))
  expect(end('{{toJson .Data.vat}}', 9)).toBe('.Data.vat')
  expect(end('{{$item.id}}', 2)).toBe('$item.id')
  expect(end('{{😀}}', 2)).toBe('😀')
  expect(end('a ', 1)).toBe('')
  expect(end('', 0)).toBe('')
})
