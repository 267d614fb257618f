// Determines whether the service is ready. Readiness depends only on the database; a Redis outage only
// degrades the service. The probe writes, because a read-only database is not enough. It has its own
// connection, so that a busy pool does not look like an unreachable database. Its result is at most 1 s old.
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
const watchIntervalMs = 1_000
const pollIntervalMs = 10_000
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
  let isDraining = false
  return {
    check: async () => {
      const state = await database.state()
      const redis = options.redis.isUp()
      return {
        status: isDraining ? 'draining' : state === 'ok' ? 'ready' : 'unavailable',
        checks: { database: state, redis: redis ? 'ok' : 'unreachable' },
        degraded: redis ? [] : ['redis'],
        version: options.version,
      }
    },
    startDraining: () => {
      isDraining = true
    },
    isDraining: () => isDraining,
    close: () => database.close(),
  }
}

/**
 * Probes the database on request and at intervals. After a connection reports a read-only server, or the probe loses
 * its own connection, the probe runs every second until a write succeeds. Then all connections are replaced, because
 * connections that only read may still lead to the previous server.
 */
function watchDatabase({ databaseUrl, database, log, metrics }: ReadinessOptions) {
  const pool = new Pool({
    Client: database.gate.ProbingClient,
    connectionString: databaseUrl,
    max: 1,
    connectionTimeoutMillis: probeTimeoutMs,
    query_timeout: probeTimeoutMs,
    // The connection stays open: only an existing connection reveals that its server has stopped accepting writes.
    idleTimeoutMillis: 0,
    keepAlive: true,
    application_name: 'manager-readiness',
  })
  watchConnections(pool)
  pool.on('error', () => watch())
  let lastProbe: { at: number; state: Promise<DatabaseState> } | null = null
  let watchTimer: NodeJS.Timeout | undefined
  let lastState: DatabaseState = 'ok'
  // Startup fails without a database, so the database is writable at this point.
  metrics.dbWritable.set(1)
  const recordState = (state: DatabaseState, error?: unknown): DatabaseState => {
    if (state !== lastState)
      log[state === 'ok' ? 'info' : 'warn']({ database: state, err: error }, 'database state changed')
    lastState = state
    metrics.dbWritable.set(Number(state === 'ok'))
    return state
  }
  const probe = async (): Promise<DatabaseState> => {
    try {
      await pool.query(probeStatement)
    } catch (error) {
      // After a timeout, the connection still leads to the same server, so there is no failover to wait for.
      if (!/timeout/.test((error as Error).message)) watch()
      return recordState(isReadOnly(error) ? 'read-only' : 'unreachable', error)
    }
    if (watchTimer !== undefined) {
      clearInterval(watchTimer)
      watchTimer = undefined
      database.renew()
    }
    return recordState('ok')
  }
  const state = (): Promise<DatabaseState> => {
    const now = performance.now()
    if (lastProbe === null || now - lastProbe.at > maxAgeMs) lastProbe = { at: now, state: probe() }
    return lastProbe.state
  }
  const watch = (): void => {
    if (!pool.ending) watchTimer ??= setInterval(() => void state(), watchIntervalMs).unref()
  }
  database.onReadOnly(watch)
  const pollTimer = setInterval(() => void state(), pollIntervalMs).unref()
  return {
    state,
    close: async (): Promise<void> => {
      clearInterval(pollTimer)
      clearInterval(watchTimer)
      await pool.end()
    },
  }
}
