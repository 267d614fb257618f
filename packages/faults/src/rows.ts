// Every fault scenario, by group. To add a scenario, import it here and add it to its group.
import type { Row } from './row.ts'
import { f32 } from './rows/audit-tampered.ts'
import { f21 } from './rows/backends-failing.ts'
import { f20 } from './rows/backends-hung.ts'
import { f24 } from './rows/call-log-unwritable.ts'
import { f27 } from './rows/changes-raced.ts'
import { f28 } from './rows/clocks-shifted.ts'
import { f09 } from './rows/connections-exhausted.ts'
import { f25 } from './rows/credentials-ended.ts'
import { f33 } from './rows/database-destroyed.ts'
import { f11 } from './rows/disk-full.ts'
import { f34 } from './rows/encryption-key-changed.ts'
import { f23 } from './rows/esb-replicas-killed.ts'
import { f37 } from './rows/input-poisoned.ts'
import { f39, f40, f41, f42 } from './rows/leader-lost.ts'
import { f45 } from './rows/links-broken.ts'
import { f26 } from './rows/logins-polled.ts'
import { f36 } from './rows/open-files-exhausted.ts'
import { f07 } from './rows/postgres-frozen.ts'
import { f04, f05 } from './rows/postgres-restarted.ts'
import { f15 } from './rows/postgres-slow.ts'
import { f35 } from './rows/proxy-secret-changed.ts'
import { f13 } from './rows/redis-frozen.ts'
import { f12 } from './rows/redis-killed.ts'
import { f14, f43, f44 } from './rows/redis-master-lost.ts'
import { f31 } from './rows/release-upgraded.ts'
import { f08 } from './rows/replica-cut-off.ts'
import { f01 } from './rows/replica-killed.ts'
import { f03 } from './rows/replica-stopped.ts'
import { f29 } from './rows/replicas-down.ts'
import { f17 } from './rows/replicas-drained.ts'
import { f02 } from './rows/replicas-killed-in-turn.ts'
import { f16 } from './rows/replicas-overloaded.ts'
import { f06 } from './rows/sessions-terminated.ts'
import { f30 } from './rows/soak.ts'
import { f18 } from './rows/sockets-cut.ts'
import { f19 } from './rows/sockets-unread.ts'
import { f38 } from './rows/triggers-due-together.ts'
import { f22 } from './rows/upstream-misbehaves.ts'
import { f10 } from './rows/vacuum-blocked.ts'

/** The groups. Each group takes at most 20 minutes, and every scenario belongs to one group. */
export const groups: Record<string, readonly Row[]> = {
  triggers: [f01, f02, f03, f20, f21, f28, f29],
  comms: [f04, f05, f12, f13, f14, f17, f18, f19],
  postgres: [f06, f07, f08, f09, f10, f11, f15],
  requests: [f16, f22, f23, f24, f25, f26, f27, f36, f37],
  operations: [f31, f32, f33, f34, f35],
  failover: [f39, f40, f41, f42, f43, f44, f45],
  minute: [f38],
  soak: [f30],
}

/** The scenarios that every change must pass, in their short version. They take at most 8 minutes in total. */
export const shortRows: readonly Row[] = [f03, f39, f43]

/** Scenarios that run only by name, because they take too long. */
const longRows: ReadonlySet<string> = new Set(['F30'])

/** Every scenario, ordered by number. */
export const allRows: readonly Row[] = Object.values(groups)
  .flat()
  .toSorted((a, b) => a.id.localeCompare(b.id))

type Choice = { rows: readonly Row[]; isShort: boolean }

/**
 * Returns the scenarios with these names or in these groups, without duplicates. Without names, returns all scenarios
 * except those that run only by name.
 */
export function chooseRows(names: readonly string[]): Choice {
  const found = names.map((name) => {
    const rows =
      name.toLowerCase() === 'short'
        ? shortRows
        : (groups[name.toLowerCase()] ?? allRows.filter(({ id }) => id === name.toUpperCase()))
    if (rows.length === 0)
      throw new Error(`Unknown scenario or group ${name}. Pass --help to list all names.`)
    return rows
  })
  const rows = names.length === 0 ? allRows.filter(({ id }) => !longRows.has(id)) : [...new Set(found.flat())]
  return { rows, isShort: names.length > 0 && names.every((name) => name.toLowerCase() === 'short') }
}
