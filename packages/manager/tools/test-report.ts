// Runs vitest with a report in a file, and reads the report.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

type Report = {
  numPassedTests: number
  numFailedTests: number
  testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[]
}
/** A failed test, or a file that did not run. */
export type Failure = { file: string; test: string }

/** Returns the command that runs the tests of a configuration and writes a report. */
export const buildVitestCommand = (config: string, report: string, files: readonly string[] = []): string[] =>
  ['npx', 'vitest', 'run', '--config', config, '--reporter=default', '--reporter=json'].concat(
    `--outputFile.json=${report}`,
    files,
  )

/** Returns the counts and failures from a report. */
export function readReport(file: string): { counts: string; failures: Failure[] } {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report
    const failures = report.testResults.flatMap(({ name, status, assertionResults }) => {
      const path = relative(process.cwd(), name)
      const tests = assertionResults.filter((one) => one.status === 'failed')
      if (tests.length > 0) return tests.map(({ fullName }) => ({ file: path, test: fullName }))
      return status === 'failed' ? [{ file: path, test: 'the file did not run' }] : []
    })
    return { counts: `${report.numPassedTests} passed, ${report.numFailedTests} failed`, failures }
  } catch {
    return { counts: 'no report', failures: [] }
  }
}
