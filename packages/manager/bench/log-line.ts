// Compares the CPU cost of a request log line between the Manager's writer and pino's writer, in alternating rounds.
//   node bench/log-line.ts [--rounds 9]
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { median, quantile } from './load.ts'
import { say } from './sides.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } })
const side = new URL('./log-side.ts', import.meta.url).pathname
/** Returns the CPU time per line in microseconds, in a process whose standard output never blocks. */
const measure = (which: 'own' | 'pino'): number =>
  Number(
    spawnSync(process.execPath, [side, which], { stdio: ['ignore', 'ignore', 'pipe'] }).stderr.toString(),
  )

const measured = { own: [] as number[], pino: [] as number[] }
for (let round = 0; round < Number(values.rounds); round++)
  for (const which of ['own', 'pino'] as const) measured[which].push(measure(which))
for (const [which, of] of Object.entries(measured))
  say(
    `${which.padEnd(4)} ${median(of).toFixed(2)} us of CPU per line (${quantile(of, 0.25).toFixed(2)}..${quantile(of, 0.75).toFixed(2)})`,
  )
