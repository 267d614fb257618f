// Plays a drill and prints one line about it: npm run drill -- <name> [options]
import { parseArgs } from 'node:util'
import type { Verdict } from '../verdict.ts'
import { ensureHighAvailability } from '@manager/harness/engines/install.ts'
import { drillRestore, restorePlants } from './restore.ts'
import { drillUpgrade, upgradePlants } from './upgrade.ts'
import { runToExit } from '../exit.ts'

const help = `Usage: npm run drill -- restore|upgrade [options]

Practises what operators do when it matters, with engines and replicas of its own, under load, and prints what held.
Progress goes to standard error, one line with the result to standard output. Exit code 1 when something did not hold.

Drills:
  restore   back up under load, destroy the database, restore it elsewhere, and look at everything
  upgrade   a former release and this one side by side on one database, exchanged and back without a failed request

Options:
  --short            smaller and quicker; it shows the same
  --method <name>    restore: "base" (pg_basebackup with its WAL, default), "archive" (the same, and all WAL since) or
                     "dump" (pg_dump)
  --from <ref>       upgrade: the former release, any git ref (default: the newest tag, or without tags the newest
                     commit "chore(release): v…")
  --plant <fault>    plants a fault, which has to be found: the drill fails then; may be repeated
                       restore: ${Object.keys(restorePlants).join(', ')}
                       upgrade: ${Object.keys(upgradePlants).join(', ')}
  --help             this text

Examples:
  $ npm run drill -- restore
  $ npm run drill -- restore --method dump --short
  $ npm run drill -- upgrade --from v1.4.0
  $ npm run drill -- upgrade --plant kill
`

type Values = { short: boolean; method: string; from?: string; plant: string[] }

/** The faults of these names. */
function plantsOf<T extends object>(plants: T, names: readonly string[]): (keyof T)[] {
  const unknown = names.find((name) => !Object.hasOwn(plants, name))
  if (unknown !== undefined) throw new Error(`there is no fault ${unknown}; --help lists them`)
  return names as (keyof T)[]
}

function play(name: string | undefined, { short, method, from, plant }: Values): Promise<Verdict> {
  const say = (text: string): void => void process.stderr.write(`${name}: ${text}\n`)
  if (name === 'restore') {
    if (method !== 'base' && method !== 'archive' && method !== 'dump')
      throw new Error(`there is no method ${method}; --help lists them`)
    const seconds = short ? 5 : 45
    return drillRestore({ method, seconds, plants: plantsOf(restorePlants, plant) }, say)
  }
  if (name !== 'upgrade') throw new Error('name a drill; --help lists them')
  const size = short ? { replicas: 1, phaseSeconds: 2 } : { replicas: 3, phaseSeconds: 15 }
  return drillUpgrade({ from: from ?? null, ...size, plants: plantsOf(upgradePlants, plant) }, say)
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      short: { type: 'boolean', default: false },
      method: { type: 'string', default: 'base' },
      from: { type: 'string' },
      plant: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(help)
    return 0
  }
  ensureHighAvailability()
  const [name] = positionals
  const { figures, broken } = await play(name, values)
  process.stdout.write(`DRILL ${name} ${figures.join(' ')} ${broken.length === 0 ? 'PASS' : 'FAIL'}\n`)
  for (const { figure, details } of broken) process.stderr.write(`${name}: ${figure}: ${details}\n`)
  return broken.length === 0 ? 0 : 1
}

await runToExit(main)
