// Tests that the check of regular expressions finds planted problems, and none in the sources.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Exceptions, findProblems } from '../tools/regexes.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(`${tmpdir()}/manager-regexes-`)
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

let planted = 0
/** Returns the problems in a source. */
async function problemsOf(source: string, exceptions: Exceptions = {}): Promise<string[]> {
  // A module is loaded only once, so every source gets its own folder.
  const root = `${dir}/${planted++}`
  mkdirSync(`${root}/packages/a/src`, { recursive: true })
  writeFileSync(`${root}/packages/a/src/planted.ts`, source)
  return findProblems(root, exceptions)
}

test('an exponential one is found, with its place', async () => {
  expect(await problemsOf('\nexport const bad = (text: string): boolean => /(a+)+$/.test(text)\n')).toEqual([
    expect.stringMatching(
      /^packages\/a\/src\/planted\.ts:2: \/\(a\+\)\+\$\/ does not run in linear time: exponential/,
    ),
  ])
})

test.each([
  ['a polynomial one', 'export const bad = /( cannot represent (?:a )?[^:]*value): [^]*$/'],
  ['one among the parts of an expression', "export const bad = ('x' as string).split(/\\s+$/).length"],
  ['one with the flag d', 'export const bad = /x*x*y/d'],
  ['a text given to RegExp', "export const bad = new RegExp('(a+)+$')"],
  ['a text given to RegExp without new', "export const bad = RegExp('(a+)+$', 'u')"],
  [
    'one composed of parts that are linear alone',
    "const part = 'a*'\nexport const bad = new RegExp(`^${part}${part}$`)",
  ],
])('%s is found', async (_name, source) => {
  expect(await problemsOf(source)).toEqual([expect.stringContaining('does not run in linear time')])
})

test('one that is made while the service runs is refused: a text of a caller may be in it', async () => {
  expect(await problemsOf('export const bad = (text: string): RegExp => new RegExp(text)')).toEqual([
    'packages/a/src/planted.ts:1: a regular expression is built at run time and cannot be checked',
  ])
})

test('linear ones pass, and what only looks like one is none', async () => {
  const source = [
    'export const good = /^[a-z]{1,40}$/',
    "const part = '[0-9]'",
    'export const composed = new RegExp(`^${part}+$`)',
    "export const text = '/(a+)+$/' // /(a+)+$/",
    'export const divided = 8 / 2 / 1',
  ].join('\n')
  expect(await problemsOf(source)).toEqual([])
})

test('an exception needs a reason, and a use', async () => {
  const source = 'export const bad = /(a+)+$/'
  expect(await problemsOf(source, { '/(a+)+$/': 'it meets texts of at most nine digits' })).toEqual([])
  expect(await problemsOf(source, { '/(a+)+$/': '' })).toEqual([expect.stringContaining('gives no reason')])
  expect(await problemsOf('', { '/(a+)+$/': 'it meets texts of at most nine digits' })).toEqual([
    expect.stringContaining('no longer needed'),
  ])
})
