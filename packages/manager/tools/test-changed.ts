// `npm run test:changed` runs the tests that are related to the files changed since a commit, by default the
// last one. A test is related to a changed file if it imports the file, is in the same folder, or is in a
// test folder of the same name. The tests of a console section are related to the section, although they belong to the
// nightly tier. The command gives quick feedback during development; `npm test` runs all tests of its tier.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'

const manager = 'packages/manager/'
const sectionTests = 'packages/console/test/sections/'
const isTest = (file: string): boolean =>
  /(?<!\.load|\.nightly)\.test\.ts$/.test(file) ||
  (file.startsWith(sectionTests) && file.endsWith('.test.ts'))
/** Tests that check the policy of all operations. They run if a schema file has changed. */
const operationTests = ['test/policy/policy.test.ts', 'test/schema-rules.test.ts'].map(
  (file) => manager + file,
)

export type Suite = { tests: readonly string[]; readImports: (test: string) => string }

/** Returns the tests that are related to a changed file. */
export function findRelatedTests(file: string, { tests, readImports: importsOf }: Suite): string[] {
  if (isTest(file)) return tests.includes(file) ? [file] : []
  const folder = `${dirname(file)}/`
  const area = /^packages\/manager\/src\/(?:platform\/)?([a-z-]+)\//.exec(file)?.[1]
  const section = /^packages\/console\/src\/sections\/([a-z-]+)\//.exec(file)?.[1]
  const importSuffix = `/${basename(file)}'`
  const isRelated = (test: string): boolean =>
    // Test kit folders are not counted, because tests import the kit files that they use.
    (!folder.includes('/kit/') && test.startsWith(folder)) ||
    (area !== undefined && test.startsWith(`${manager}test/${area}`)) ||
    (section !== undefined && test.startsWith(`${sectionTests}${section}`)) ||
    importsOf(test).includes(importSuffix)
  return [...tests.filter(isRelated), ...(file.endsWith('.graphql') ? operationTests : [])]
}

const readLines = (command: string, ...args: string[]): string[] =>
  execFileSync(command, args, { encoding: 'utf8' }).split('\n').filter(Boolean)

function run(since: string): number {
  const changedFiles = new Set([
    ...readLines('git', 'diff', '--name-only', '--diff-filter=d', since),
    ...readLines('git', 'ls-files', '--others', '--exclude-standard'),
  ])
  const allTests = readLines('git', 'ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts')
  const suite: Suite = {
    tests: allTests.filter(isTest),
    readImports: (test) => /^[^]*?\n(?=\n)/.exec(readFileSync(test, 'utf8'))?.[0] ?? '',
  }
  const relatedTests = new Set<string>()
  for (const file of changedFiles) {
    const testsOfFile = findRelatedTests(file, suite)
    for (const test of testsOfFile) relatedTests.add(test)
    if (testsOfFile.length === 0 && file.startsWith('packages/'))
      process.stdout.write(`${file} has no related tests; use npm test to run all tests\n`)
  }
  if (relatedTests.size === 0) {
    process.stdout.write(`none of the files that changed since ${since} has related tests\n`)
    return 0
  }
  const [sections, others] = [true, false].map((isSection) =>
    [...relatedTests].filter((test) => test.startsWith(sectionTests) === isSection),
  ) as [string[], string[]]
  return Math.max(runTests(['--config', 'vitest.nightly.config.ts'], sections), runTests([], others))
}

const runTests = (options: readonly string[], tests: readonly string[]): number =>
  tests.length === 0
    ? 0
    : (spawnSync('npx', ['vitest', 'run', ...options, ...tests], { stdio: 'inherit' }).status ?? 1)

if (import.meta.main) {
  const [since = 'HEAD'] = process.argv.slice(2)
  if (since.startsWith('-'))
    process.stdout.write(
      'Usage: npm run test:changed [-- <commit>]\n\nRuns the tests that are related to the files changed since the commit, by default HEAD.\n\nExamples:\n  $ npm run test:changed\n  $ npm run test:changed -- main\n',
    )
  else process.exitCode = run(since)
}
