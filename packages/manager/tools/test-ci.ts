// Runs one tier of tests for CI. If a few files fail, they run once more, without other files beside them. A test that
// passes then is unsteady: CI passes and names it, so that one slow moment of a shared machine does not reject a change.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Failure, buildVitestCommand, readReport } from './test-report.ts'

const maxFiles = 3
const help = `Usage: node packages/manager/tools/test-ci.ts <configuration>

Runs the tests of a vitest configuration. If at most ${maxFiles} files fail, they run once more, one at a time. The command
passes if they pass then, and prints the names of the tests that failed at first. A change that breaks a test fails
both times.

Examples:
  $ node packages/manager/tools/test-ci.ts vitest.config.ts
  $ node packages/manager/tools/test-ci.ts vitest.load.config.ts
`
const folder = mkdtempSync(join(tmpdir(), 'manager-test-ci-'))

/** Runs tests and returns the failures, or null if vitest itself failed. */
function run(config: string, files: readonly string[]): Failure[] | null {
  const report = join(folder, `report-${files.length}.json`)
  const [program = '', ...args] = buildVitestCommand(config, report, files)
  const alone = files.length > 0 ? ['--no-file-parallelism'] : []
  const { status } = spawnSync(program, [...args, ...alone], { stdio: 'inherit' })
  if (status === 0) return []
  const { failures } = readReport(report)
  return failures.length > 0 ? failures : null
}

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean' } },
  })
  const [config] = positionals
  if (values.help === true || config === undefined) {
    process.stdout.write(help)
    return values.help === true ? 0 : 2
  }
  const failures = run(config, [])
  if (failures === null) return 1
  const files = [...new Set(failures.map(({ file }) => file))]
  if (files.length === 0) return 0
  if (files.length > maxFiles) return 1
  process.stdout.write(`\nRunning ${files.length} failed test files once more, one at a time.\n\n`)
  const secondFailures = run(config, files)
  if (secondFailures === null || secondFailures.length > 0) return 1
  for (const { file, test } of failures)
    process.stdout.write(`unsteady test, please repair: ${file}: ${test}\n`)
  return 0
}

try {
  process.exitCode = main()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
