// `npm run test:changed` runs the tests that are related to the files changed since a commit, by default the last one.
// A test is related if it is in the same folder, imports a changed file, or is in a test folder with the same name. It
// gives quick feedback during development; `npm test` runs all tests.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'

const manager = 'packages/manager/'
const isTest = (file: string): boolean => /(?<!\.load|\.nightly)\.test\.ts$/.test(file)
/** These tests cover the policy of all operations. */
const ofOperations = ['test/policy/policy.test.ts', 'test/schema-rules.test.ts'].map((file) => manager + file)

export type Suite = { tests: readonly string[]; importsOf: (test: string) => string }

/** Returns the tests that are related to a changed file. */
export function testsNear(file: string, { tests, importsOf }: Suite): string[] {
  if (isTest(file)) return tests.includes(file) ? [file] : []
  const folder = `${dirname(file)}/`
  const area = /^packages\/manager\/src\/(?:platform\/)?([a-z-]+)\//.exec(file)?.[1]
  const imported = `/${basename(file)}'`
  const isNear = (test: string): boolean =>
    // Tests in the parent folder of a kit import the files of the kit that they use, so the folder is ignored here.
    (!folder.includes('/kit/') && test.startsWith(folder)) ||
    (area !== undefined && test.startsWith(`${manager}test/${area}`)) ||
    importsOf(test).includes(imported)
  return [...tests.filter(isNear), ...(file.endsWith('.graphql') ? ofOperations : [])]
}

const lines = (command: string, ...args: string[]): string[] =>
  execFileSync(command, args, { encoding: 'utf8' }).split('\n').filter(Boolean)

function run(since: string): number {
  const changed = new Set([
    ...lines('git', 'diff', '--name-only', '--diff-filter=d', since),
    ...lines('git', 'ls-files', '--others', '--exclude-standard'),
  ])
  const all = lines('git', 'ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts')
  const suite: Suite = {
    tests: all.filter(isTest),
    importsOf: (test) => /^[^]*?\n(?=\n)/.exec(readFileSync(test, 'utf8'))?.[0] ?? '',
  }
  const near = new Set<string>()
  for (const file of changed) {
    const found = testsNear(file, suite)
    for (const test of found) near.add(test)
    if (found.length === 0 && file.startsWith('packages/'))
      process.stdout.write(`${file} has no tests near it; run npm test for all tests\n`)
  }
  if (near.size === 0) {
    process.stdout.write(`none of the files that changed since ${since} has tests near it\n`)
    return 0
  }
  return spawnSync('npx', ['vitest', 'run', ...near], { stdio: 'inherit' }).status ?? 1
}

if (import.meta.main) {
  const [since = 'HEAD'] = process.argv.slice(2)
  if (since.startsWith('-'))
    process.stdout.write(
      'usage: npm run test:changed [-- <commit>]\n\nRuns the tests near the files that changed since the commit, by default HEAD.\n\nExamples:\n  $ npm run test:changed\n  $ npm run test:changed -- main\n',
    )
  else process.exitCode = run(since)
}
