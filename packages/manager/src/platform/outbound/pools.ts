// Connections to upstreams: one pool per origin, kept open between calls, and bounded, so that an upstream that hangs
// holds up only its own callers.
import { LRUCache } from 'lru-cache'
import { Pool } from 'undici'
import { createGuardedConnector } from './connector.ts'
import { type EgressOptions, createEgress } from './egress.ts'
import { limitSockets } from './socket-limit.ts'

export type OriginPool = {
  pool: Pool
  /** Calls that have a connection or wait for one; whoever dispatches counts them. */
  underway: number
  /** How many there may be. */
  maxUnderway: number
  /** True while a connection reports an error: undici takes an answer that ends this way for a whole one. */
  isBreaking: boolean
}
export type OutboundPools = {
  /** The pool of an origin (`URL.origin`, nothing else: two upstreams never share a name). */
  of(origin: string): OriginPool
  close(): Promise<void>
}

const maxOrigins = 2_000
// Shorter than most upstreams keep an idle connection: one that is closed while a call is sent on it fails the call.
const keepAliveMs = 4_000

/** `maxPerOrigin` connections at most to each origin, and `maxSockets` to all of them. */
export function createOutboundPools(
  options: EgressOptions & { maxPerOrigin: number; maxSockets: number; connectTimeoutMs: number },
): OutboundPools {
  const { connectTimeoutMs } = options
  const connect = limitSockets(
    createGuardedConnector({ egress: createEgress(options), connectTimeoutMs }),
    options.maxSockets,
  )
  const pools = new LRUCache<string, OriginPool>({
    max: maxOrigins,
    // Calls under way end as they are.
    dispose: ({ pool }) => void pool.close(),
  })
  return {
    of: (origin) => {
      let found = pools.get(origin)
      if (found === undefined) {
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
          keepAliveTimeout: keepAliveMs,
          // Each call has one deadline for everything, which its owner keeps.
          headersTimeout: 0,
          bodyTimeout: 0,
        })
        found = { pool, underway: 0, maxUnderway: options.maxPerOrigin, isBreaking: false }
        pools.set(origin, found)
      }
      return found
    },
    close: async () => {
      await Promise.all([...pools.values()].map(({ pool }) => pool.destroy()))
    },
  }
}
