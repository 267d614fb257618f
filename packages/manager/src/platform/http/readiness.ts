// Whether the service can do its work: the database decides, Redis only degrades. The database is asked to write,
// because one that only reads is of no use. The probe has its own connection, so a busy pool does not look like a dead
// database, and its result is at most a second old.
import { Pool } from 'pg'
import { isReadOnly, watchConnections } from '../postgres/connections.ts'
import type { Database } from '../postgres/database.ts'
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'
import type { Redis } from '../redis/redis.ts'

type DatabaseState = 'ok' | 'read-only' | 'unreachable'
type Readiness = {
  status: 'ready' | 'unavailable' | 'draining'
  checks: { database: DatabaseState; redis: 'ok' | 'unreachable' }
  degraded: string[]
  version: string
}

export type ReadinessProbe = {
  check(): Promise<Readiness>
  startDraining(): void
  isDraining(): boolean
  close(): Promise<void>
}

const probeTimeoutMs = 1_000
const maxAgeMs = 900
const watchEveryMs = 1_000
const lookEveryMs = 10_000
// The slot follows from the connection, so replicas seldom meet in one.
const probeStatement = `insert into readiness_probes (slot, probed_at) values (mod(pg_backend_pid(), 16), now())
  on conflict (slot) do update set probed_at = excluded.probed_at`

export type ReadinessOptions = {
  databaseUrl: string
  database: Pick<Database, 'onReadOnly' | 'renew' | 'gate'>
  redis: Redis
  log: Logger
  metrics: Pick<Metrics, 'dbWritable'>
  version: string
}

/** Gives the same verdict to all requests while one probe is in flight. */
export function createReadiness(options: ReadinessOptions): ReadinessProbe {
  const database = watchDatabase(options)
  let draining = false
  return {
    check: async () => {
      const state = await database.state()
      const redis = options.redis.isUp()
      return {
        status: draining ? 'draining' : state === 'ok' ? 'ready' : 'unavailable',
        checks: { database: state, redis: redis ? 'ok' : 'unreachable' },
        degraded: redis ? [] : ['redis'],
        version: options.version,
      }
    },
    startDraining: () => {
      draining = true
    },
    isDraining: () => draining,
    close: () => database.close(),
  }
}

/**
 * Probes on request, and at intervals without one. Once any connection has reported a server that takes no writes,
 * or the probe has lost its own, it goes on probing until a write succeeds; then all connections are replaced, because
 * those that only read may still lead to a former server.
 */
function watchDatabase({ databaseUrl, database, log, metrics }: ReadinessOptions) {
  const pool = new Pool({
    Client: database.gate.Probing,
    connectionString: databaseUrl,
    max: 1,
    connectionTimeoutMillis: probeTimeoutMs,
    query_timeout: probeTimeoutMs,
    // Kept open: a server that takes no writes any more is noticed on a connection to it, and not on a new one.
    idleTimeoutMillis: 0,
    keepAlive: true,
    application_name: 'manager-readiness',
  })
  watchConnections(pool)
  pool.on('error', () => watch())
  let last: { at: number; state: Promise<DatabaseState> } | null = null
  let watching: NodeJS.Timeout | undefined
  let seen: DatabaseState = 'ok'
  // A start without a database ends.
  metrics.dbWritable.set(1)
  const note = (state: DatabaseState, error?: unknown): DatabaseState => {
    if (state !== seen)
      log[state === 'ok' ? 'info' : 'warn']({ database: state, err: error }, 'database state changed')
    seen = state
    metrics.dbWritable.set(Number(state === 'ok'))
    return state
  }
  const probe = async (): Promise<DatabaseState> => {
    try {
      await pool.query(probeStatement)
    } catch (error) {
      // A database that is slow is the same one.
      if (!/timeout/.test((error as Error).message)) watch()
      return note(isReadOnly(error) ? 'read-only' : 'unreachable', error)
    }
    if (watching !== undefined) {
      clearInterval(watching)
      watching = undefined
      database.renew()
    }
    return note('ok')
  }
  const state = (): Promise<DatabaseState> => {
    const now = performance.now()
    if (last === null || now - last.at > maxAgeMs) last = { at: now, state: probe() }
    return last.state
  }
  const watch = (): void => {
    if (!pool.ending) watching ??= setInterval(() => void state(), watchEveryMs).unref()
  }
  database.onReadOnly(watch)
  const looking = setInterval(() => void state(), lookEveryMs).unref()
  return {
    state,
    close: async (): Promise<void> => {
      clearInterval(looking)
      clearInterval(watching)
      await pool.end()
    },
  }
}
