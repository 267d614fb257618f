// `npm run check`: everything but the tests. Runs each step, goes on after a failure, and says at the end what failed.
import { spawnSync } from 'node:child_process'

const steps: [string, string[]][] = [
  ['files', ['node', 'packages/manager/tools/files.ts']],
  ['commits', ['node', 'packages/manager/tools/commits.ts']],
  ['format', ['npx', 'prettier', '--check', '--log-level', 'warn', '.']],
  ['lint', ['npx', 'oxlint', '--type-aware', '--deny-warnings']],
  ['types', ['npx', 'tsc', '--noEmit']],
  ['dead code', ['npx', 'knip']],
  ['regular expressions', ['node', 'packages/manager/tools/regexes.ts']],
  ['generated files', ['node', 'packages/manager/tools/generate.ts', '--check']],
  ['words', ['node', 'packages/manager/tools/words.ts']],
  ['API document', ['npx', 'redocly', 'lint', 'docs/api/openapi.json']],
  ['conformance', ['node', 'packages/manager/tools/conformance.ts', '--check']],
]
// The linter of the API document would ask its registry for a newer version; redocly.yaml turns off its telemetry.
const env = { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
const failed = steps.filter(([name, [program = '', ...args]]) => {
  process.stdout.write(`\n--- ${name}\n`)
  return spawnSync(program, args, { stdio: 'inherit', env }).status !== 0
})
if (failed.length > 0) {
  process.stderr.write(
    `\nfailed: ${failed.map(([name]) => name).join(', ')}; npm run fix and npm run generate fix most of it\n`,
  )
  process.exitCode = 1
} else process.stdout.write('\nall checks passed\n')
