// Runs one benchmark or all of them: npm run bench [-- <name> [options]]
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
  process.stderr.write(`unknown benchmark; use one of ${names.join(', ')}, or none to run all\n`)
  process.exit(2)
}
const chosen = name === undefined ? names : [name]
const loadedByWrk = new Set(['validate', 'frontend-config', 'pilets', 'esb', 'comms', 'comms-inbox'])
if (chosen.some((one) => loadedByWrk.has(one)) && spawnSync('wrk').error !== undefined) {
  process.stderr.write('bench needs wrk, which is not installed: apt-get install wrk\n')
  process.exit(1)
}
for (const one of chosen) {
  const file = new URL(`${one}.ts`, import.meta.url).pathname
  const { status } = spawnSync(process.execPath, [file, ...options], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
