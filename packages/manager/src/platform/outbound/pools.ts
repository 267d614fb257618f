// Connections to upstreams for one kind of call: one bounded pool of keep-alive connections per project and origin. An
// upstream that hangs blocks only its own callers, and projects that call the same upstream do not block each other.
import { LRUCache } from 'lru-cache'
import { Pool } from 'undici'
import { createGuardedConnector, createTrustStore } from './connector.ts'
import { type EgressOptions, createEgress } from './egress.ts'
import type { NameResolver } from './names.ts'
import { createSocketLimit } from './socket-limit.ts'

/** The connections of one project to one origin. */
export type OriginPool = {
  pool: Pool
  /** Calls that have a connection or wait for one; the dispatching code counts these calls. */
  inFlight: number
  maxInFlight: number
  /** True while a connection reports an error: undici treats a response that ends this way as complete. */
  isConnectionFailing: boolean
}
/** The connection pools for one kind of call. */
export type OutboundPools = {
  /**
   * Returns the pool of a project for an origin. `origin` must be a `URL.origin`, so that two upstreams never share a
   * key. Calls of one project that must not block each other pass different values of `part`.
   */
  getPool(projectId: string, origin: string, part?: string): OriginPool
  close(): Promise<void>
}

/** Maximum number of interim responses per exchange. No byte limit covers them, and each costs a few microseconds. */
export const maxInterimResponses = 1_000

const maxPools = 2_000
// Shorter than the keep-alive timeout of most upstreams: a call fails if the upstream closes the connection while the
// call is sent.
const keepAliveMs = 4_000

/** Limits and egress rules of the pools. */
export type PoolsOptions = Omit<EgressOptions, 'lookup'> & {
  nameResolver: NameResolver
  maxPerOrigin: number
  maxSockets: number
  connectTimeoutMs: number
  /** Time after which an idle connection is closed. */
  keepAliveMs?: number
}

/**
 * `maxPerOrigin` limits the connections of a project to one origin. `maxSockets` limits the connections of all projects
 * in total.
 */
export function createOutboundPools(options: PoolsOptions): OutboundPools {
  const { connectTimeoutMs, nameResolver } = options
  const { policy, ownServices } = options
  const egress = createEgress({ policy, ownServices, lookup: nameResolver.createLookup('our own services') })
  const trust = createTrustStore()
  const limitSockets = createSocketLimit(options.maxSockets, policy.destinations)
  const pools = new LRUCache<string, OriginPool>({
    max: maxPools,
    // Calls in flight still complete.
    dispose: ({ pool }) => void pool.close(),
  })
  return {
    getPool: (projectId, origin, part = '') => {
      const key = `${projectId} ${part} ${origin}`
      let originPool = pools.get(key)
      if (originPool === undefined) {
        // The lookup for a new connection is charged to the project's share.
        const lookup = nameResolver.createLookup(projectId, policy.destinations)
        const connect = limitSockets(
          projectId,
          createGuardedConnector({ egress, trust, connectTimeoutMs, lookup }),
        )
        const pool = new Pool(origin, {
          connect: (target, callback) =>
            connect(target, (...result) => {
              const currentPool = originPool
              result[1]?.prependListener('error', () => {
                if (currentPool === undefined) return
                currentPool.isConnectionFailing = true
                queueMicrotask(() => (currentPool.isConnectionFailing = false))
              })
              callback(...result)
            }),
          connections: options.maxPerOrigin,
          pipelining: 1,
          allowH2: false,
          keepAliveTimeout: options.keepAliveMs ?? keepAliveMs,
          // Overrides the timeout that the upstream suggests.
          keepAliveMaxTimeout: options.keepAliveMs ?? keepAliveMs,
          // Each call has a single deadline, which the caller of the pool enforces.
          headersTimeout: 0,
          bodyTimeout: 0,
        })
        originPool = { pool, inFlight: 0, maxInFlight: options.maxPerOrigin, isConnectionFailing: false }
        pools.set(key, originPool)
      }
      return originPool
    },
    close: async () => {
      await Promise.all([...pools.values()].map(({ pool }) => pool.destroy()))
    },
  }
}
