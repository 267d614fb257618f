// The command line of the fault program: npm run faults -- <scenario or group>… [options]
import { parseArgs } from 'node:util'
import { ensureHighAvailability } from '@manager/harness/engines/install.ts'
import type { RowOptions } from './base.ts'
import { measureBare } from './bare/bare.ts'
import { playAll } from './program.ts'
import { createOutFolder, renderTable, writeOut } from './report.ts'
import { allRows, chooseRows, groups, shortRows } from './rows.ts'
import { runToExit } from './exit.ts'

const renderGroup = ([name, rows]: [string, typeof allRows]): string =>
  `  ${name.padEnd(11)} ${rows.map(({ id }) => id).join(' ')}`

const help = `Usage: npm run faults -- [<scenario or group>...] [options]

Break the service on purpose, with separate PostgreSQL and Redis servers, replicas and backends. Print which bounds
hold: one line for each scenario and for each planted mistake, and a table of all scenarios. Progress is printed to
standard error. The exit code is 1 if a scenario fails or a planted mistake is not found. Without names, every scenario
except F30 (npm run soak) runs. The name bare measures how fast plain PostgreSQL and Redis clients recover from the same
faults. Tables, figures, schedules and timelines are stored in packages/faults/out.

Scenarios:
${allRows.map(({ id, title }) => `  ${id}  ${title}`).join('\n')}
Groups:
${[...Object.entries(groups), ['short', shortRows] as [string, typeof allRows]].map(renderGroup).join('\n')}

Options:
  --seed <n>        determine which replica is affected and when (default: random, printed)
  --repeat <n>      run each scenario n times; the schedules must be identical
  --short           run smaller and shorter scenarios; always on for the group short
  --triggers <n>    number of triggers (default: depends on the scenario)
  --emits <n>       number of notifications (F04, F05; default: depends on the scenario)
  --sockets <n>     number of sockets (F17, F18, F19; default: depends on the scenario)
  --sessions <n>    number of logins (F26; default: depends on the scenario)
  --processes <n>   number of replicas (F38; default: 3)
  --minutes <n>     duration of the soak (F30; default: 60)
  --keep            keep the logs of scenarios that pass; the logs of failed scenarios are always kept
  --help            print this text

Examples:
  $ npm run faults
  $ npm run faults -- triggers
  $ npm run faults -- F01 --seed 42 --repeat 3
  $ npm run faults -- F04 --emits 500
  $ npm run faults -- F38 --triggers 20000 --processes 1
`

const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** Parses a numeric option. Returns null if it is missing. Throws unless it is a positive integer. */
function parseNumber(text: string | undefined): number | null {
  if (text === undefined) return null
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${text} is not a positive integer.`)
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
    seed: parseNumber(values.seed) ?? 1 + Math.floor(Math.random() * 1_000_000),
    size: isShort || values.short ? 'short' : 'full',
    triggers: parseNumber(values.triggers),
    emits: parseNumber(values.emits),
    sockets: parseNumber(values.sockets),
    sessions: parseNumber(values.sessions),
    processes: parseNumber(values.processes),
    minutes: parseNumber(values.minutes),
    keep: values.keep,
  }
  const repeat = parseNumber(values.repeat) ?? 1
  ensureHighAvailability()
  const out = createOutFolder(options.seed)
  const keep: Parameters<typeof playAll>[0]['keep'] = (played) => writeOut(out, played)
  const played = await playAll({ rows, options, repeat, print, keep })
  print(`\n${renderTable(played)}`)
  process.stderr.write(`table, figures, schedules and timelines: ${out}\n`)
  return played.every(({ isGood }) => isGood) ? 0 : 1
}

await runToExit(main)
