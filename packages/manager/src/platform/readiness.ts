// Whether the service can do its work: the database decides, Redis only degrades. The probe has a connection of its
// own, so a busy pool does not look like a dead database, and its answer is at most a second old.
import { Pool } from 'pg'
import { keepConnectionsHonest } from './db/connections.ts'
import type { Redis } from './redis.ts'

type Readiness = {
  status: 'ready' | 'unavailable' | 'draining'
  checks: { database: 'ok' | 'unreachable'; redis: 'ok' | 'unreachable' }
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

/** Answers the same verdict to everyone who asks while one probe is under way. */
export function createReadiness(options: {
  databaseUrl: string
  redis: Redis
  version: string
}): ReadinessProbe {
  const pool = new Pool({
    connectionString: options.databaseUrl,
    max: 1,
    connectionTimeoutMillis: probeTimeoutMs,
    query_timeout: probeTimeoutMs,
    application_name: 'manager-readiness',
  })
  keepConnectionsHonest(pool)
  pool.on('error', () => undefined)
  let draining = false
  let last: { at: number; answers: Promise<boolean> } | null = null
  const databaseAnswers = (): Promise<boolean> => {
    const now = performance.now()
    if (last === null || now - last.at > maxAgeMs)
      last = {
        at: now,
        answers: pool.query('select 1').then(
          () => true,
          () => false,
        ),
      }
    return last.answers
  }
  return {
    check: async () => {
      const database = await databaseAnswers()
      const redis = options.redis.isUp()
      return {
        status: draining ? 'draining' : database ? 'ready' : 'unavailable',
        checks: { database: database ? 'ok' : 'unreachable', redis: redis ? 'ok' : 'unreachable' },
        degraded: redis ? [] : ['redis'],
        version: options.version,
      }
    },
    startDraining: () => {
      draining = true
    },
    isDraining: () => draining,
    close: () => pool.end(),
  }
}
