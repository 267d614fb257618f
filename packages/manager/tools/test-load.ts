// `npm run test:load`: the tests that flood and measure. A file that fails is run once more, alone and at the end: a
// machine that was busy for a moment fails one of the two, a fault fails both. What was run twice is said.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

type Report = { testResults: { name: string; status: string }[] }

const dir = mkdtempSync(join(tmpdir(), 'manager-load-'))
const reportFile = join(dir, 'report.json')

/** Runs vitest; its exit status, and the files that failed, by their path from here. */
function runTests(args: string[]): { status: number; failed: string[] } {
  rmSync(reportFile, { force: true })
  const { status } = spawnSync(
    'npx',
    ['vitest', 'run', '--config', 'vitest.load.config.ts', '--reporter=default', '--reporter=json']
      .concat(`--outputFile.json=${reportFile}`)
      .concat(args),
    { stdio: 'inherit' },
  )
  return { status: status ?? 1, failed: failedFiles() }
}

function failedFiles(): string[] {
  try {
    const { testResults } = JSON.parse(readFileSync(reportFile, 'utf8')) as Report
    return testResults
      .filter(({ status }) => status !== 'passed')
      .map(({ name }) => relative(process.cwd(), name))
  } catch {
    return []
  }
}

try {
  const first = runTests(process.argv.slice(2))
  process.exitCode = first.status
  if (first.status !== 0 && first.failed.length > 0 && first.failed.length <= 4) {
    process.stdout.write(`\nonce more, as they failed: ${first.failed.join(', ')}\n`)
    process.exitCode = runTests(first.failed).status
  }
} finally {
  rmSync(dir, { recursive: true, force: true })
}
