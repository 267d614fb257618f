// The time of the database. Replicas of one installation have many clocks and one database: what is stored, ordered and
// expired by time goes by its clock, so a machine whose own clock is wrong dates nothing wrongly.
import type { Clock } from '../clock.ts'
import type { Run } from './prepared.ts'
import type { Statement } from './statements.ts'

export type DatabaseClock = Clock & {
  /** Reads the database's time; until the first success the machine's own is used. */
  sync(): Promise<void>
  /** How far the machine's clock is ahead of the database's. */
  skewMs(): number
  close(): void
}

const syncEveryMs = 30_000
// A slower response says too little about the moment it was given.
const maxRoundTripMs = 2_000
const statement: Statement = { kind: 'read', text: 'select extract(epoch from clock_timestamp()) as time' }

/** Counts on from the last time read, by the monotonic clock; costs one short statement in 30 seconds. */
export function createDatabaseClock(run: Run): DatabaseClock {
  let originMs = Date.now() - performance.now()
  const sync = async (): Promise<void> => {
    const sent = performance.now()
    const [row] = await run<{ time: string }>(statement, [])
    const received = performance.now()
    if (received - sent <= maxRoundTripMs) originMs = Number(row?.time) * 1_000 - (sent + received) / 2
  }
  // Readiness reports a database that does not answer; the clock goes on as it is.
  const timer = setInterval(() => void sync().catch(() => undefined), syncEveryMs)
  timer.unref()
  return {
    now: () => new Date(originMs + performance.now()),
    sync,
    skewMs: () => Date.now() - (originMs + performance.now()),
    close: () => clearInterval(timer),
  }
}
