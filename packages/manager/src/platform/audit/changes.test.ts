import { describe, expect, test } from 'vitest'
import { diffRows } from './changes.ts'

describe('the changes of an audit row', () => {
  test('shows public fields, shortens sensitive ones, hides secret ones and leaves ignored ones out', () => {
    const classes = { name: 'public', email: 'sensitive', password: 'secret', updatedAt: 'ignored' } as const
    const before = { name: 'a', email: 'ada@example.com', password: 'p1', updatedAt: 1 }
    const after = { name: 'b', email: 'bob@example.com', password: 'p2', updatedAt: 2 }
    expect(diffRows(classes, before, after)).toEqual({
      name: { before: 'a', after: 'b' },
      email: { before: 'ad…', after: 'bo…' },
      password: { before: '[secret]', after: '[secret]' },
    })
  })

  test('a field that nobody classified counts as secret', () => {
    expect(diffRows({}, null, { token: 'abc' })).toEqual({ token: { before: null, after: '[secret]' } })
  })

  test('what stays the same is no change, in lists and objects too', () => {
    const classes = { list: 'public', name: 'public' } as const
    expect(diffRows(classes, { list: ['a', 'b'], name: 'x' }, { list: ['a', 'b'], name: 'x' })).toEqual({})
    expect(diffRows(classes, { list: ['a'], name: 'x' }, null)).toEqual({
      list: { before: ['a'], after: null },
      name: { before: 'x', after: null },
    })
  })
})
