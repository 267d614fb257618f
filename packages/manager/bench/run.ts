// Runs one benchmark or all benchmarks: npm run bench [-- <name> [options]]
import { spawnSync } from 'node:child_process'

const names = [
  'validate',
  'frontend-config',
  'pilets',
  'esb',
  'comms',
  'comms-inbox',
  'comms-sockets',
  'list',
  'log-line',
]
const [name, ...options] = process.argv.slice(2)
if (name !== undefined && !names.includes(name)) {
  process.stderr.write(`unknown benchmark ${name}; use one of ${names.join(', ')}, or omit the name\n`)
  process.exit(2)
}
const selectedNames = name === undefined ? names : [name]
const wrkBenchmarks = new Set(['validate', 'frontend-config', 'pilets', 'esb', 'comms', 'comms-inbox'])
if (selectedNames.some((benchmark) => wrkBenchmarks.has(benchmark)) && spawnSync('wrk').error !== undefined) {
  process.stderr.write('this benchmark needs wrk, which is not installed; run `apt-get install wrk`\n')
  process.exit(1)
}
for (const benchmark of selectedNames) {
  const file = new URL(`${benchmark}.ts`, import.meta.url).pathname
  const { status } = spawnSync(process.execPath, [file, ...options], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
