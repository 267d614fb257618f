// Runs a drill and prints one line with the result: npm run drill -- <name> [options]
import { parseArgs } from 'node:util'
import type { Verdict } from '../verdict.ts'
import { ensureHighAvailability } from '@manager/harness/engines/install.ts'
import { drillRestore, restorePlants } from './restore.ts'
import { drillUpgrade, upgradePlants } from './upgrade.ts'
import { runToExit } from '../exit.ts'

const help = `Usage: npm run drill -- restore|upgrade [options]

Rehearse operator procedures under load, with separate servers and replicas, and print which bounds hold. Progress is
printed to standard error, and one line with the result to standard output. The exit code is 1 if a bound is violated.

Drills:
  restore   back up under load, destroy the database, restore it elsewhere and verify everything
  upgrade   run the previous and the current release on one database, upgrade and roll back without a failed request

Options:
  --short            a smaller, faster run with the same checks
  --method <name>    restore: "base" (pg_basebackup with its WAL, default), "archive" (also all later WAL) or
                     "dump" (pg_dump)
  --from <ref>       upgrade: the previous release, any git ref (default: the newest tag, or without tags the newest
                     commit "chore(release): v…")
  --plant <fault>    plant a fault that the drill must find, so that it fails; can be repeated
                       restore: ${Object.keys(restorePlants).join(', ')}
                       upgrade: ${Object.keys(upgradePlants).join(', ')}
  --help             print this text

Examples:
  $ npm run drill -- restore
  $ npm run drill -- restore --method dump --short
  $ npm run drill -- upgrade --from v1.4.0
  $ npm run drill -- upgrade --plant kill
`

type Values = { short: boolean; method: string; from?: string; plant: string[] }

/** Validates the names of the faults. Throws if a name is unknown. */
function plantsOf<T extends object>(plants: T, names: readonly string[]): (keyof T)[] {
  const unknown = names.find((name) => !Object.hasOwn(plants, name))
  if (unknown !== undefined) throw new Error(`Unknown fault ${unknown}. Pass --help to list all faults.`)
  return names as (keyof T)[]
}

function play(name: string | undefined, { short, method, from, plant }: Values): Promise<Verdict> {
  const log = (text: string): void => void process.stderr.write(`${name}: ${text}\n`)
  if (name === 'restore') {
    if (method !== 'base' && method !== 'archive' && method !== 'dump')
      throw new Error(`Unknown method ${method}. Pass --help to list all methods.`)
    const seconds = short ? 5 : 45
    return drillRestore({ method, seconds, plants: plantsOf(restorePlants, plant) }, log)
  }
  if (name !== 'upgrade') throw new Error('Missing or unknown drill. Pass restore or upgrade.')
  const size = short ? { replicas: 1, phaseSeconds: 2 } : { replicas: 3, phaseSeconds: 15 }
  return drillUpgrade({ from: from ?? null, ...size, plants: plantsOf(upgradePlants, plant) }, log)
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
