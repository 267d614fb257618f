// Connections to upstreams, for one purpose: one pool per project and origin, kept open between calls, and bounded, so
// that an upstream that hangs blocks only its own callers, and a project blocks no other one that calls the same
// upstream.
import { LRUCache } from 'lru-cache'
import { Pool } from 'undici'
import { createGuardedConnector, createTrust } from './connector.ts'
import { type EgressOptions, createEgress } from './egress.ts'
import type { Names } from './names.ts'
import { createSocketLimit } from './socket-limit.ts'

export type OriginPool = {
  pool: Pool
  /** Calls that have a connection or wait for one; the dispatching code counts them. */
  inFlight: number
  /** How many there may be. */
  maxInFlight: number
  /** True while a connection reports an error: undici takes a response that ends this way for a whole one. */
  isBreaking: boolean
}
export type OutboundPools = {
  /**
   * The pool of a project for an origin (`URL.origin`, nothing else: two upstreams never share a name), and of a part of
   * the project where its parts must not block each other.
   */
  of(projectId: string, origin: string, part?: string): OriginPool
  close(): Promise<void>
}

/** Interim responses of one exchange: no byte limit counts them, and each costs some microseconds. */
export const maxInterim = 1_000

const maxPools = 2_000
// Shorter than most upstreams keep an idle connection: one that is closed while a call is sent on it fails the call.
const keepAliveMs = 4_000

export type PoolsOptions = Omit<EgressOptions, 'lookup'> & {
  names: Names
  maxPerOrigin: number
  maxSockets: number
  connectTimeoutMs: number
  /** How long a connection that is not used stays open. */
  keepAliveMs?: number
}

/** `maxPerOrigin` connections at most of each project to each origin, and `maxSockets` of all to all. */
export function createOutboundPools(options: PoolsOptions): OutboundPools {
  const { connectTimeoutMs, names } = options
  const { policy, ownServices } = options
  const egress = createEgress({ policy, ownServices, lookup: names.lookupFor('our own services') })
  const trust = createTrust()
  const limitSockets = createSocketLimit(options.maxSockets, policy.destinations)
  const pools = new LRUCache<string, OriginPool>({
    max: maxPools,
    // Calls in flight are not affected.
    dispose: ({ pool }) => void pool.close(),
  })
  return {
    of: (projectId, origin, part = '') => {
      const key = `${projectId} ${part} ${origin}`
      let found = pools.get(key)
      if (found === undefined) {
        // Opening a connection looks its name up, in the share of the project.
        const lookup = names.lookupFor(projectId, policy.destinations)
        const connect = limitSockets(
          projectId,
          createGuardedConnector({ egress, trust, connectTimeoutMs, lookup }),
        )
        const pool = new Pool(origin, {
          connect: (about, callback) =>
            connect(about, (...result) => {
              const own = found
              result[1]?.prependListener('error', () => {
                if (own === undefined) return
                own.isBreaking = true
                queueMicrotask(() => (own.isBreaking = false))
              })
              callback(...result)
            }),
          connections: options.maxPerOrigin,
          pipelining: 1,
          allowH2: false,
          keepAliveTimeout: options.keepAliveMs ?? keepAliveMs,
          // Whatever the other side offers.
          keepAliveMaxTimeout: options.keepAliveMs ?? keepAliveMs,
          // Each call has one deadline for everything, which the caller of the pool enforces.
          headersTimeout: 0,
          bodyTimeout: 0,
        })
        found = { pool, inFlight: 0, maxInFlight: options.maxPerOrigin, isBreaking: false }
        pools.set(key, found)
      }
      return found
    },
    close: async () => {
      await Promise.all([...pools.values()].map(({ pool }) => pool.destroy()))
    },
  }
}
