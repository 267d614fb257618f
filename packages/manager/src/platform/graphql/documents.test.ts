// Each document is validated once, whether it is valid or not, and the cache of rejected documents is bounded.
import { buildSchema } from 'graphql'
import { expect, test, vi } from 'vitest'
import { createDocuments } from './documents.ts'

function watched() {
  const schema = buildSchema('type Query { a: String b: String }')
  const { read, isKnown } = createDocuments(schema)
  // Validation calls getQueryType; the parser and the caches do not.
  const asked = vi.spyOn(schema, 'getQueryType')
  const isChecked = (text: string): boolean => {
    asked.mockClear()
    read(text)
    return asked.mock.calls.length > 0
  }
  const problems = (text: string): string[] => {
    const found = read(text)
    return 'errors' in found ? found.errors.map(({ message }) => message) : []
  }
  return { isChecked, isKnown, problems }
}

test('a refused document is validated once and answered with the same problems again', () => {
  const { isChecked, isKnown, problems } = watched()
  const text = '{ a nothing nowhere }'
  expect([isChecked(text), isChecked(text), isKnown(text)]).toEqual([true, false, false])
  expect(problems(text)).toEqual([
    'Cannot query field "nothing" on type "Query".',
    'Cannot query field "nowhere" on type "Query".',
  ])
  expect(isChecked(`${text} `)).toBe(true)
  for (const broken of ['{ a', '{ a(', `{ ${'a '.repeat(65)} }`]) {
    const first = problems(broken)
    expect(first).toHaveLength(1)
    expect(problems(broken)).toEqual(first)
  }
})

test('a valid document is validated once and stays known', () => {
  const { isChecked, isKnown } = watched()
  expect([isChecked('{ a }'), isChecked('{ a }'), isKnown('{ a }')]).toEqual([true, false, true])
})

test('refused documents are cached by number and by the size of their problems, and take no place of valid ones', () => {
  const { isChecked, isKnown } = watched()
  isChecked('{ a b }')
  isChecked('{ first }')
  for (let n = 0; n < 1_000; n++) isChecked(`{ x${n} }`)
  expect([isChecked('{ first }'), isChecked('{ x999 }'), isKnown('{ a b }')]).toEqual([true, false, true])
  // Each document has 20 problems of more than 100 characters.
  const long = (n: number): string =>
    `{ ${Array.from({ length: 20 }, (_, i) => `y${n}_${i}_${'z'.repeat(80)}`).join(' ')} }`
  for (let n = 0; n < 250; n++) isChecked(long(n))
  expect([isChecked(long(0)), isChecked(long(249))]).toEqual([true, false])
})
