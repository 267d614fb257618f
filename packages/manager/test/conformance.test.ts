// Tests that the conformance register is well-formed, and that its check detects problems.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  type Claims,
  findClaims,
  renderConformancePage,
  readCoveredIds,
  findProblems,
  readRegister,
} from '../tools/claims.ts'

const register = readRegister(readFileSync(new URL('../conformance/register.yaml', import.meta.url), 'utf8'))
const small = readRegister('areas: {a: {title: A, entries: {a.one: "first", a.two: "second"}}}')
const claiming = (...ids: string[]): Claims => new Map(ids.map((id) => [id, new Set(['x.test.ts'])]))
// These strings are assembled from parts, so that the check does not mistake them for tests.
const call = (name: string, how = ''): string => ['te', `st${how}('${name}', () => {})`].join('')

describe('the conformance register', () => {
  test('has at least 320 entries, each with an id of its own and a rule on one line', () => {
    const entries = register.areas.flatMap((area) => area.entries)
    expect(entries.length).toBeGreaterThanOrEqual(320)
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length)
    expect(entries.filter(({ rule }) => rule.trim() === '' || rule.includes('\n'))).toEqual([])
  })

  test('a test claims ids in its name; one that does not run claims nothing', () => {
    expect(findClaims(call('[a.one] [a.two] holds'))).toEqual(['a.one', 'a.two'])
    expect(findClaims(call('[a.one] holds', '.skip') + call('[a.two]', '.todo'))).toEqual([])
    expect(findClaims("const text = '[a.one]'")).toEqual([])
  })

  test('an unknown id and a lost test are problems', () => {
    expect(findProblems(small, claiming('a.one'), [])).toEqual([])
    expect(findProblems(small, claiming('a.three'), [])).toEqual([
      'x.test.ts claims a.three, which is not in the register',
    ])
    const published = readCoveredIds(renderConformancePage(small, claiming('a.one', 'a.two')))
    expect(published).toEqual(['a.one', 'a.two'])
    expect(findProblems(small, claiming('a.two'), published)).toEqual([
      'a.one is no longer covered by a test',
    ])
  })

  test('an id in a foreign area is refused', () => {
    expect(() => readRegister('areas: {a: {title: A, entries: {b.one: "x"}}}')).toThrow('not a valid id')
  })
})
