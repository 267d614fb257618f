// Runs the README examples, and checks the exports and imports of the source.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as exported from '../src/index.ts'

const root = new URL('..', import.meta.url).pathname
let directory: string
beforeAll(() => {
  directory = mkdtempSync(`${tmpdir()}/gotemplate-`)
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Runs a program and returns its output. */
function run(name: string, source: string): string {
  const path = `${directory}/${name}`
  writeFileSync(path, source)
  return execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', path], { encoding: 'utf8' })
}

const readme = readFileSync(`${root}README.md`, 'utf8')
const examples = Array.from(
  readme.matchAll(/```ts\n(.*?)```\n\n```text\n(.*?)```/gs),
  ([, code = '', output = '']) => ({
    code,
    output,
  }),
)

describe('README', () => {
  test('every example has its output behind it', () => {
    expect(examples.length).toBe(readme.split('```ts').length - 1)
    expect(examples.length).toBeGreaterThan(3)
  })

  test.each(examples)('the example that prints $output', ({ code, output }) => {
    expect(run('example.ts', code.replace("'gotemplate'", `'${root}src/index.ts'`))).toBe(output)
  })
})

test('six names are exported, three of them types', () => {
  expect(Object.keys(exported).toSorted()).toEqual(['TemplateError', 'goTime', 'parse'])
  const source = readFileSync(`${root}src/index.ts`, 'utf8')
  expect(source.match(/^export .*$/gm)).toHaveLength(6)
})

test('the source needs nothing of Node, makes no code, and imports itself only', () => {
  for (const file of readdirSync(`${root}src`)) {
    const source = readFileSync(`${root}src/${file}`, 'utf8')
    expect(source).not.toMatch(/\beval\(|\bFunction\(|\bprocess\b|\bBuffer\b|\brequire\(|\bimport\(/)
    for (const [, from] of source.matchAll(/from '([^']+)'/g)) expect(from).toMatch(/^\.\/[\w-]+\.ts$/)
  }
})
