// Determines whether the service is ready. Only the database decides; a Redis outage only degrades the service. The
// probe writes, because a read-only database is not enough. It has its own connection, so that a busy pool does not
// look like a dead database. Its result is at most 1 s old.
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

/** Reports whether the service can handle requests. */
export type ReadinessProbe = {
  check(): Promise<Readiness>
  startDraining(): void
  isDraining(): boolean
  close(): Promise<void>
}

const probeTimeoutMs = 1_000
const maxAgeMs = 900
const watchEveryMs = 1_000
const pollEveryMs = 10_000
// The slot depends on the connection, so replicas seldom write the same row.
const probeStatement = `insert into readiness_probes (slot, probed_at) values (mod(pg_backend_pid(), 16), now())
  on conflict (slot) do update set probed_at = excluded.probed_at`

/** Dependencies of the probe. */
export type ReadinessOptions = {
  databaseUrl: string
  database: Pick<Database, 'onReadOnly' | 'renew' | 'gate'>
  redis: Redis
  log: Logger
  metrics: Pick<Metrics, 'dbWritable'>
  version: string
}

/** Creates the probe; concurrent checks share one probe in flight. */
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
 * Probes on request, and at intervals. After a connection reports a read-only server, or the probe loses its own
 * connection, it probes every second until a write succeeds. Then all connections are replaced, because those that only
 * read may still lead to a previous server.
 */
function watchDatabase({ databaseUrl, database, log, metrics }: ReadinessOptions) {
  const pool = new Pool({
    Client: database.gate.ProbingClient,
    connectionString: databaseUrl,
    max: 1,
    connectionTimeoutMillis: probeTimeoutMs,
    query_timeout: probeTimeoutMs,
    // The connection stays open: only an existing connection reveals that its server no longer accepts writes.
    idleTimeoutMillis: 0,
    keepAlive: true,
    application_name: 'manager-readiness',
  })
  watchConnections(pool)
  pool.on('error', () => watch())
  let last: { at: number; state: Promise<DatabaseState> } | null = null
  let watching: NodeJS.Timeout | undefined
  let seen: DatabaseState = 'ok'
  // Startup fails without a database, so the database is writable at this point.
  metrics.dbWritable.set(1)
  const record = (state: DatabaseState, error?: unknown): DatabaseState => {
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
      // A slow database is still the same server.
      if (!/timeout/.test((error as Error).message)) watch()
      return record(isReadOnly(error) ? 'read-only' : 'unreachable', error)
    }
    if (watching !== undefined) {
      clearInterval(watching)
      watching = undefined
      database.renew()
    }
    return record('ok')
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
  const polling = setInterval(() => void state(), pollEveryMs).unref()
  return {
    state,
    close: async (): Promise<void> => {
      clearInterval(polling)
      clearInterval(watching)
      await pool.end()
    },
  }
}
