// Tests tools/imports.ts, which enforces the import directions. Each rule must detect a planted violation.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findProblems } from '../tools/imports.ts'

/** Returns the problems in a workspace with these files. */
function problemsOf(files: Record<string, string>, known: Record<string, string[]> = {}): string[] {
  const root = mkdtempSync(`${tmpdir()}/manager-imports-`)
  onTestFinished(() => rmSync(root, { recursive: true }))
  const manifests = Object.fromEntries(
    ['cli', 'client', 'faults', 'gotemplate', 'harness', 'legacy', 'manager'].map((name) => [
      `packages/${name}/package.json`,
      JSON.stringify({
        name: `@manager/${name}`,
        exports: { '.': './src/index.ts', './*.ts': './src/*.ts' },
      }),
    ]),
  )
  for (const [path, text] of Object.entries({ ...manifests, ...files })) {
    mkdirSync(dirname(`${root}/${path}`), { recursive: true })
    writeFileSync(`${root}/${path}`, text)
  }
  return findProblems(root, known)
}
const uses = (what: string): string => `import { x } from '${what}'\nexport const y = x\n`
const usesType = (what: string): string => `import type { X } from '${what}'\nexport type Y = X\n`
const x = 'export const x = 1\nexport type X = number\n'

test.each([
  [
    'packages/manager/src/a.ts',
    '@manager/harness',
    'packages/harness/src/index.ts',
    /may not import harness/,
  ],
  ['packages/manager/src/a.ts', '@manager/legacy', 'packages/legacy/src/index.ts', /may not import legacy/],
  [
    'packages/harness/src/a.ts',
    '@manager/manager',
    'packages/manager/src/index.ts',
    /may not import manager/,
  ],
  ['packages/cli/src/a.ts', '@manager/manager', 'packages/manager/src/index.ts', /may not import manager/],
  ['packages/cli/test/a.test.ts', '@manager/faults', 'packages/faults/src/index.ts', /may not import faults/],
  ['packages/faults/src/a.ts', '../../manager/src/app.ts', 'packages/manager/src/app.ts', /by path/],
  ['packages/legacy/src/a.ts', '@manager/manager/inner', 'packages/manager/src/inner.ts', /not export/],
])('%s may not import %s, not even a type', (file, what, target, message) => {
  for (const text of [uses(what), usesType(what), `export type Y = import('${what}').X\n`])
    expect(problemsOf({ [file]: text, [target]: x })).toEqual([expect.stringMatching(message)])
})

test.each([
  ['packages/cli/src/a.ts', '@manager/client', 'packages/client/src/index.ts'],
  ['packages/legacy/src/a.ts', '@manager/manager', 'packages/manager/src/index.ts'],
  ['packages/faults/src/a.ts', '@manager/harness/seed.ts', 'packages/harness/src/seed.ts'],
  ['packages/manager/src/a.test.ts', '@manager/harness/seed.ts', 'packages/harness/src/seed.ts'],
  ['packages/cli/test/a.test.ts', '../../manager/test/kit/app.ts', 'packages/manager/test/kit/app.ts'],
])('%s may import %s', (file, what, target) => {
  expect(problemsOf({ [file]: uses(what), [target]: x })).toEqual([])
})

const src = 'packages/manager/src'
const cycle = {
  [`${src}/config/a.ts`]: uses('../platform/b.ts'),
  [`${src}/platform/b.ts`]: x,
  [`${src}/platform/c.ts`]: usesType('../policy/d.ts'),
  [`${src}/policy/d.ts`]: `export const load = () => import('../config/a.ts')\nexport type X = 1\n`,
}

test('a circle of top folders is found, also through types, dynamic imports and a third folder', () => {
  expect(problemsOf(cycle)).toEqual([
    expect.stringContaining('config/a.ts -> platform'),
    expect.stringContaining('platform/c.ts -> policy'),
    expect.stringContaining('policy/d.ts -> config'),
  ])
})

test('a known circle is accepted, and an entry that closes none is not', () => {
  expect(problemsOf(cycle, { manager: ['config/a.ts -> platform'] })).toEqual([])
  const { [`${src}/policy/d.ts`]: _, ...open } = cycle
  expect(problemsOf(open, { manager: ['config/a.ts -> platform'] })).toEqual([
    expect.stringContaining('no longer closes a cycle'),
  ])
})
