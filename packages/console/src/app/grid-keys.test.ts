import { expect, test } from 'vitest'
import { clampCell, moveCell } from './grid-keys.ts'

const size = { rows: 100, columns: 5 }
const press = (key: string, ctrlKey = false) =>
  moveCell({ key, ctrlKey, metaKey: false }, { row: 50, column: 2 }, size)

test.each([
  ['ArrowUp', false, { row: 49, column: 2 }],
  ['ArrowRight', false, { row: 50, column: 3 }],
  ['PageDown', false, { row: 60, column: 2 }],
  ['Home', false, { row: 50, column: 0 }],
  ['Home', true, { row: 0, column: 0 }],
  ['End', true, { row: 99, column: 4 }],
  ['Enter', false, null],
])('the key %s with Ctrl %s moves to %j', (key, ctrlKey, cell) => {
  expect(press(key, ctrlKey)).toEqual(cell)
})

test('a cell stays inside the grid', () => {
  expect(clampCell({ row: 200, column: -1 }, size)).toEqual({ row: 99, column: 0 })
  expect(clampCell({ row: 3, column: 3 }, { rows: 0, columns: 0 })).toEqual({ row: 0, column: 0 })
})
