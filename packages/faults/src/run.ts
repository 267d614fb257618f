// The command line of the fault programme: npm run faults -- <row or group>… [options]
import { parseArgs } from 'node:util'
import { ensureHighAvailability } from '@manager/harness/engines/install.ts'
import type { RowOptions } from './base.ts'
import { measureBare } from './bare/bare.ts'
import { playAll } from './programme.ts'
import { createOutFolder, renderTable, writeOut } from './report.ts'
import { allRows, chooseRows, groups, shortRows } from './rows.ts'
import { runToExit } from './exit.ts'

const renderGroup = ([name, rows]: [string, typeof allRows]): string =>
  `  ${name.padEnd(11)} ${rows.map(({ id }) => id).join(' ')}`

const help = `Usage: npm run faults -- [<row or group>...] [options]

Breaks the service on purpose, with engines, replicas and backends of its own, and prints what held: a line for each row and
for each mistake that was planted in its record and has to be found, and a table of all rows. Everything else goes to
standard error. Exit code 1 when a row fails or a planted mistake is not found. Without names every row but F30 is played:
that is npm run soak. The name bare stands for what plain clients of PostgreSQL and Redis need after the same faults.
Tables, figures, schedules and timelines are kept in packages/faults/out.

Rows:
${allRows.map(({ id, title }) => `  ${id}  ${title}`).join('\n')}
Groups:
${[...Object.entries(groups), ['short', shortRows] as [string, typeof allRows]].map(renderGroup).join('\n')}

Options:
  --seed <n>        decides which replica is hit and when (default: a random one, printed)
  --repeat <n>      plays each row so many times; their schedules have to be the same
  --short           smaller and shorter rows; the group short always is
  --triggers <n>    how many are fired, instead of the row's own number
  --emits <n>       how many notifications are sent, instead of the row's own number (F04, F05)
  --sockets <n>     how many are open, instead of the row's own number (F17, F18, F19)
  --sessions <n>    how many logins there are, instead of the row's own number (F26)
  --processes <n>   replicas of F38 (default: 3)
  --minutes <n>     how long the soak takes (F30; default: 60)
  --keep            keep the logs of rows that pass; those of rows that fail are always kept
  --help            this text

Examples:
  $ npm run faults
  $ npm run faults -- triggers
  $ npm run faults -- F01 --seed 42 --repeat 3
  $ npm run faults -- F04 --emits 500
  $ npm run faults -- F38 --triggers 20000 --processes 1
`

const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** A number of an option, null when it is not given. */
function numberOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${text} is not a number from 1 on`)
  return value
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seed: { type: 'string' },
      repeat: { type: 'string' },
      short: { type: 'boolean', default: false },
      triggers: { type: 'string' },
      emits: { type: 'string' },
      sockets: { type: 'string' },
      sessions: { type: 'string' },
      processes: { type: 'string' },
      minutes: { type: 'string' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(help)
    return 0
  }
  if (positionals.length === 1 && positionals[0] === 'bare') {
    ensureHighAvailability()
    await measureBare(print)
    return 0
  }
  const { rows, isShort } = chooseRows(positionals)
  const options: RowOptions = {
    seed: numberOf(values.seed) ?? 1 + Math.floor(Math.random() * 1_000_000),
    size: isShort || values.short ? 'short' : 'full',
    triggers: numberOf(values.triggers),
    emits: numberOf(values.emits),
    sockets: numberOf(values.sockets),
    sessions: numberOf(values.sessions),
    processes: numberOf(values.processes),
    minutes: numberOf(values.minutes),
    keep: values.keep,
  }
  const repeat = numberOf(values.repeat) ?? 1
  ensureHighAvailability()
  const out = createOutFolder(options.seed)
  const keep: Parameters<typeof playAll>[0]['keep'] = (played) => writeOut(out, played)
  const played = await playAll({ rows, options, repeat, print, keep })
  print(`\n${renderTable(played)}`)
  process.stderr.write(`table, figures, schedules and timelines are in ${out}\n`)
  return played.every(({ isGood }) => isGood) ? 0 : 1
}

await runToExit(main)
