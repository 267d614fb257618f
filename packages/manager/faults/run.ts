// Runs rows of the fault programme and prints a line for each: npm run faults -- <row>… [options]
import { parseArgs } from 'node:util'
import { ensureEngines, ensureHighAvailability } from '../test/engines/install.ts'
import type { Row, RowResult } from './row.ts'
import { f01 } from './rows/f01.ts'
import { f03 } from './rows/f03.ts'
import { f04 } from './rows/f04.ts'
import { f05 } from './rows/f05.ts'
import { f06 } from './rows/f06.ts'
import { f12 } from './rows/f12.ts'
import { f13 } from './rows/f13.ts'
import { f14 } from './rows/f14.ts'
import { f16 } from './rows/f16.ts'
import { f17 } from './rows/f17.ts'
import { f18 } from './rows/f18.ts'
import { f19 } from './rows/f19.ts'
import { f20 } from './rows/f20.ts'
import { f21 } from './rows/f21.ts'
import { f22 } from './rows/f22.ts'
import { f23 } from './rows/f23.ts'
import { f24 } from './rows/f24.ts'
import { f26 } from './rows/f26.ts'
import { f28 } from './rows/f28.ts'
import { f29 } from './rows/f29.ts'
import { f32 } from './rows/f32.ts'
import { f36 } from './rows/f36.ts'
import { f37 } from './rows/f37.ts'
import { f38 } from './rows/f38.ts'
import type { RowOptions } from './base.ts'

const rows: readonly Row[] = [
  f01,
  f03,
  f04,
  f05,
  f06,
  f12,
  f13,
  f14,
  f16,
  f17,
  f18,
  f19,
  f20,
  f21,
  f22,
  f23,
  f24,
  f26,
  f28,
  f29,
  f32,
  f36,
  f37,
  f38,
]
/** Names that stand for several rows. F38 measures rather than breaks something, and is named by itself. */
const groups: Record<string, readonly Row[]> = {
  triggers: [f01, f03, f20, f21, f28, f29],
  comms: [f04, f05, f12, f13, f14, f17, f18, f19],
}

const help = `Usage: npm run faults -- <row or group>... [options]

Breaks the service on purpose, with engines, replicas and backends of its own, and prints what held.
Everything but the lines of the rows goes to standard error. Exit code 1 when a row fails.

Rows:
${rows.map(({ id, title }) => `  ${id}  ${title}`).join('\n')}
Groups:
${Object.entries(groups)
  .map(([name, members]) => `  ${name}  ${members.map(({ id }) => id).join(' ')}`)
  .join('\n')}

Options:
  --seed <n>        decides which replica is hit and when (default: a random one, printed)
  --triggers <n>    how many are fired, instead of the row's own number
  --emits <n>       how many notifications are sent, instead of the row's own number (F04, F05)
  --sockets <n>     how many are open, instead of the row's own number (F17, F18, F19)
  --sessions <n>    how many logins there are, instead of the row's own number (F26)
  --processes <n>   replicas of F38 (default: 3)
  --mutants         also plants mistakes in what was recorded; every one has to be found
  --keep            keep the logs of rows that pass; those of rows that fail are always kept
  --help            this text

Examples:
  $ npm run faults -- triggers
  $ npm run faults -- F01 --seed 42
  $ npm run faults -- triggers --mutants
  $ npm run faults -- comms
  $ npm run faults -- F04 --emits 500
  $ npm run faults -- F32 --mutants
  $ npm run faults -- F38 --triggers 20000 --processes 1
`

const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** The rows these names stand for, or null when one is unknown. */
function rowsOf(names: readonly string[]): readonly Row[] | null {
  const found = names.map(
    (name) => groups[name.toLowerCase()] ?? rows.filter(({ id }) => id === name.toUpperCase()),
  )
  return found.length === 0 || found.some(({ length }) => length === 0) ? null : found.flat()
}

/** A number of an option, null when it is not given. */
function numberOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${text} is not a number from 1 on`)
  return value
}

/** Plays a row and prints what it found; false when something did not hold. */
async function play(row: Row, options: RowOptions, withMutants: boolean): Promise<boolean> {
  const say = (text: string): void => void process.stderr.write(`${row.id}: ${text}\n`)
  let result: RowResult
  try {
    result = await row.play(options, say)
  } catch (error) {
    print(`FAULT ${row.id} seed=${options.seed} FAIL`)
    say((error as Error).message)
    return false
  }
  const { figures, broken } = result.verdict
  const isGood = broken.length === 0
  print(`FAULT ${row.id} ${figures.join(' ')} seed=${options.seed} ${isGood ? 'PASS' : 'FAIL'}`)
  for (const { figure, details } of broken) say(`${figure}: ${details}`)
  if (!withMutants) return isGood
  for (const { name, isFound, figures: shown } of result.mutants)
    print(`MUTANT ${row.id} "${name}" ${shown.join(' ')} ${isFound ? 'FOUND' : 'NOT FOUND'}`)
  return isGood && result.mutants.every(({ isFound }) => isFound)
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seed: { type: 'string' },
      triggers: { type: 'string' },
      emits: { type: 'string' },
      sockets: { type: 'string' },
      sessions: { type: 'string' },
      processes: { type: 'string' },
      mutants: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(help)
    return 0
  }
  const chosen = rowsOf(positionals)
  if (chosen === null) throw new Error('name a row or a group; --help lists them')
  const options: RowOptions = {
    seed: numberOf(values.seed) ?? 1 + Math.floor(Math.random() * 1_000_000),
    triggers: numberOf(values.triggers),
    emits: numberOf(values.emits),
    sockets: numberOf(values.sockets),
    sessions: numberOf(values.sessions),
    processes: numberOf(values.processes),
    keep: values.keep,
  }
  ensureEngines()
  ensureHighAvailability()
  let areGood = true
  for (const row of chosen) areGood = (await play(row, options, values.mutants)) && areGood
  return areGood ? 0 : 1
}

// What a row has started is ended by others when this process ends (children.ts, test/engines/keeper.ts).
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))
try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`error: ${(error as Error).message}\n`)
  process.exitCode = 2
}
// A row that was given up may wait for something still.
setTimeout(() => process.exit(), 1_000).unref()
