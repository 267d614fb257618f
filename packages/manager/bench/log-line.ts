// Compares the CPU cost of a request log line in the Manager's writer and in pino's writer, in alternating rounds.
//   node bench/log-line.ts [--rounds 9]
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { median, quantile } from './load.ts'
import { printLine } from './sides.ts'

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } })
const sideFile = new URL('./log-side.ts', import.meta.url).pathname
/** Returns the CPU time per line in microseconds, in a process whose standard output never blocks. */
const measure = (writer: 'own' | 'pino'): number =>
  Number(
    spawnSync(process.execPath, [sideFile, writer], {
      stdio: ['ignore', 'ignore', 'pipe'],
    }).stderr.toString(),
  )

const results = { own: [] as number[], pino: [] as number[] }
for (let round = 0; round < Number(options.rounds); round++)
  for (const writer of ['own', 'pino'] as const) results[writer].push(measure(writer))
for (const [writer, values] of Object.entries(results))
  printLine(
    `${writer.padEnd(4)} ${median(values).toFixed(2)} us of CPU per line (${quantile(values, 0.25).toFixed(2)}..${quantile(values, 0.75).toFixed(2)})`,
  )
