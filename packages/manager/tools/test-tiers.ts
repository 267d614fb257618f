// `npm run test:tiers` lists every test with its tier. With --since, it compares the tests with those in another
// commit. It fails if a test from that commit no longer exists and test/removed-tests.yaml gives no reason.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { type ListedTest, compareTests, readRemovals } from './moved-tests.ts'

const root = new URL('../../../', import.meta.url).pathname
const help = `Usage: npm run test:tiers -- [--since <commit>]

Prints one line per test: its tier, its file and its name, separated by tabs. With --since, every line starts with the
tier of the test in that commit, or with "new". The command fails if a test of that commit was removed without a reason in
packages/manager/test/removed-tests.yaml.

Examples:
  $ npm run --silent test:tiers | cut -f 1 | sort | uniq -c
  $ npm run --silent test:tiers -- --since v0.9.0
`
/** Maps the test configurations of this release and of earlier releases to tiers. */
const tiers = {
  'vitest.config.ts': 'test',
  'vitest.load.config.ts': 'load',
  'vitest.nightly.config.ts': 'nightly',
  'packages/manager/vitest.kubernetes.config.ts': 'kubernetes',
}

/** Lists the tests of a checkout. Vitest collects them without running them. */
function listTests(checkout: string): ListedTest[] {
  return Object.entries(tiers)
    .filter(([config]) => existsSync(join(checkout, config)))
    .flatMap(([config, tier]) => {
      const args = ['vitest', 'list', '--config', config, '--json']
      const options = { cwd: checkout, encoding: 'utf8', maxBuffer: 2 ** 28 } as const
      const text = execFileSync('npx', args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
      const listedTests = JSON.parse(text.slice(text.indexOf('['))) as { name: string; file: string }[]
      return listedTests.map(({ name, file }) => ({ tier, name, file: relative(checkout, file) }))
    })
}

const git = (...args: string[]): void => void execFileSync('git', args, { cwd: root, stdio: 'pipe' })

/** Lists the tests of another commit in a temporary checkout that shares the installed packages. */
function listTestsAt(commit: string): ListedTest[] {
  const checkout = mkdtempSync(join(tmpdir(), 'manager-tiers-'))
  git('worktree', 'add', '--detach', checkout, commit)
  try {
    // The other commit may lack some packages of this one.
    for (const folder of ['node_modules', ...globSync('packages/*/node_modules', { cwd: root })])
      if (existsSync(join(checkout, folder, '..'))) symlinkSync(join(root, folder), join(checkout, folder))
    return listTests(checkout)
  } finally {
    git('worktree', 'remove', '--force', checkout)
    rmSync(checkout, { recursive: true, force: true })
  }
}

const { values } = parseArgs({ options: { since: { type: 'string' }, help: { type: 'boolean' } } })
const print = (...cells: string[]): void => void process.stdout.write(`${cells.join('\t')}\n`)
if (values.help === true) process.stdout.write(help)
else if (values.since === undefined)
  for (const { tier, file, name } of listTests(root)) print(tier, file, name)
else {
  const removals = readRemovals(
    parse(readFileSync(new URL('../test/removed-tests.yaml', import.meta.url), 'utf8')),
  )
  const { rows, lostTests: missingTests } = compareTests(listTestsAt(values.since), listTests(root), removals)
  for (const row of rows) print(row.from, row.to, row.file, row.name)
  const counts = new Map<string, number>()
  for (const { from, to } of rows) counts.set(`${from} -> ${to}`, (counts.get(`${from} -> ${to}`) ?? 0) + 1)
  for (const [transition, count] of counts) process.stderr.write(`${transition}: ${count}\n`)
  for (const { file, name } of missingTests)
    process.stderr.write(
      `${file}: "${name}" no longer exists; restore the test or add a reason to removed-tests.yaml\n`,
    )
  if (missingTests.length > 0) process.exitCode = 1
}
