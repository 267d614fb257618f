// `npm run test:nightly` runs the third test tier. It continues after a failed stage, and prints and saves a table of
// results.
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildVitestCommand, readReport } from './test-report.ts'

type Stage = { name: string; command: string[]; env?: Record<string, string>; report?: string }
type Result = { stage: Stage; hasPassed: boolean; seconds: number; counts: string; failures: string[] }

const reportFolder = mkdtempSync(join(tmpdir(), 'manager-nightly-'))
const buildNpmCommand = (...args: string[]): string[] => ['npm', 'run', '--silent', ...args]
const [testReport, loadReport] = [join(reportFolder, 'tests.json'), join(reportFolder, 'load.json')]

/** Returns the files with property tests. In the other tiers, these tests use a fixed seed. */
function findPropertyTests(): string[] {
  const files = globSync('packages/*/{src,test}/**/*.test.ts', { exclude: ['**/*.{load,nightly}.test.ts'] })
  return files.filter((file) => readFileSync(file, 'utf8').includes("from 'fast-check'"))
}

const stages: Stage[] = [
  { name: 'tests', command: buildVitestCommand('vitest.nightly.config.ts', testReport), report: testReport },
  {
    name: 'load',
    command: buildVitestCommand('vitest.load.config.ts', loadReport),
    report: loadReport,
    env: { LOAD_SIZE: 'full' },
  },
  {
    name: 'draws',
    command: ['npx', 'vitest', 'run', ...findPropertyTests()],
    env: { PROPERTY_SEED: 'random' },
  },
  { name: 'fuzz', command: buildNpmCommand('fuzz', '-w', 'gotemplate', '--', '--runs', '50000') },
  { name: 'restore', command: buildNpmCommand('drill', '--', 'restore') },
  { name: 'upgrade', command: buildNpmCommand('drill', '--', 'upgrade') },
  { name: 'faults', command: buildNpmCommand('faults') },
  { name: 'soak', command: buildNpmCommand('soak') },
]

const help = `Usage: npm run test:nightly -- [<stage>...] [options]

Runs the tests that take too long for every change: planted faults, large data, timing ratios, guides as scripts,
Kubernetes, drills, the fault program and the soak. All stages take several hours on two cores. A failed stage does
not stop the others. The table is written to standard output and to a file. Exits 1 if a stage fails.

Stages:
${stages.map(({ name, command }) => `  ${name.padEnd(9)} ${command.slice(0, 6).join(' ')}`).join('\n')}

Options:
  --summary <file>  file for the table (default: NIGHTLY_SUMMARY, or nightly-summary.md)
  --help            show this text

Examples:
  $ npm run test:nightly
  $ npm run test:nightly -- tests restore
  $ npm run test:nightly -- faults --summary /tmp/faults.md
`

function run(stage: Stage): Result {
  process.stdout.write(`\n--- ${stage.name}: ${stage.command.join(' ')}\n`)
  const start = performance.now()
  const [program = '', ...args] = stage.command
  const { status } = spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, ...stage.env } })
  const seconds = Math.round((performance.now() - start) / 1000)
  const report = stage.report === undefined ? { counts: '', failures: [] } : readReport(stage.report)
  const failures = report.failures.map(({ file, test }) => `${file}: ${test}`)
  return { stage, hasPassed: status === 0, seconds, counts: report.counts, failures }
}

const renderRow = ({ stage, hasPassed, seconds, counts }: Result): string =>
  `| ${stage.name} | ${hasPassed ? 'pass' : 'FAIL'} | ${seconds} s | ${counts} |`

/** Returns the table, followed by the failed tests. */
function render(results: readonly Result[]): string {
  const rows = ['| stage | result | time | tests |', '| --- | --- | --- | --- |', ...results.map(renderRow)]
  const failures = results.flatMap((result) =>
    result.failures.map((name) => `- ${result.stage.name}: ${name}`),
  )
  return `${[...rows, ...(failures.length > 0 ? ['', 'Failed:', '', ...failures] : [])].join('\n')}\n`
}

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { summary: { type: 'string' }, help: { type: 'boolean', default: false } },
  })
  if (values.help) {
    process.stdout.write(help)
    return 0
  }
  const unknownStage = positionals.find((name) => !stages.some((stage) => stage.name === name))
  if (unknownStage !== undefined) {
    process.stderr.write(`Unknown stage ${unknownStage}. Run npm run test:nightly -- --help for a list.\n`)
    return 2
  }
  const file = values.summary ?? process.env['NIGHTLY_SUMMARY'] ?? 'nightly-summary.md'
  const results: Result[] = []
  for (const stage of stages.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
    results.push(run(stage))
    // Write the file after every stage, so that the results survive if the run is interrupted.
    writeFileSync(file, render(results))
  }
  process.stdout.write(`\n${render(results)}\nWrote the table to ${file}.\n`)
  return results.every(({ hasPassed }) => hasPassed) ? 0 : 1
}

try {
  process.exitCode = main()
} finally {
  rmSync(reportFolder, { recursive: true, force: true })
}
