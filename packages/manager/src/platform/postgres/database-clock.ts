// A clock that follows the database. The replicas of an installation have many clocks but one database. Stored times,
// order and expiry follow the database clock, so a machine with a wrong clock does not store wrong times.
import type { Clock } from '../clock.ts'
import type { Run } from './prepared.ts'
import type { Statement } from './statements.ts'

/** A clock that returns the time of the database. */
export type DatabaseClock = Clock & {
  /** Reads the time of the database. Until the first success, the clock of the machine is used. */
  sync(): Promise<void>
  /** How far the machine clock is ahead of the database clock. */
  getSkewMs(): number
  close(): void
}

const syncIntervalMs = 30_000
// A slower response would make the reading too inaccurate.
const maxRoundTripMs = 2_000
const statement: Statement = { kind: 'read', text: 'select extract(epoch from clock_timestamp()) as time' }

/** Advances the last reading by the monotonic clock; costs one short statement every 30 s. */
export function createDatabaseClock(run: Run): DatabaseClock {
  let originMs = Date.now() - performance.now()
  const sync = async (): Promise<void> => {
    const sentAt = performance.now()
    const [row] = await run<{ time: string }>(statement, [])
    const receivedAt = performance.now()
    if (receivedAt - sentAt <= maxRoundTripMs)
      originMs = Number(row?.time) * 1_000 - (sentAt + receivedAt) / 2
  }
  // Failures are ignored: readiness reports an unreachable database, and the clock advances from its last reading.
  const timer = setInterval(() => void sync().catch(() => undefined), syncIntervalMs)
  timer.unref()
  return {
    now: () => new Date(originMs + performance.now()),
    sync,
    getSkewMs: () => Date.now() - (originMs + performance.now()),
    close: () => clearInterval(timer),
  }
}
