// Every connection is an open file, and their number is limited. Each kind has a share, so that none takes the files of
// another: with none left, no connection to the database opens, no health request is answered, and a call of Node
// itself may fail where the code does not expect it.
import { readFileSync } from 'node:fs'

export type ConnectionShares = {
  /** Connections of the API port. */
  api: number
  /** Connections to endpoints of the ESB, all together. */
  outbound: number
  /** Connections to backends that are called back. */
  callbacks: number
  /** Websockets. */
  sockets: number
}
type Needs = {
  /** Connections to PostgreSQL, all pools together. */
  database: number
  redis: number
  /** Connections to a bucket. */
  blobStores: number
  /** Worker threads; each has its own event loop. */
  threads: number
  /** The most connections of each kind, however many files there may be. */
  maxApi: number
  maxOutbound: number
  /** 0 in a process that has no websockets. */
  maxSockets: number
}

/** Connections the health port holds, independent of the other ports. */
export const healthConnections = 16
// The standard streams, the event loop, listeners, files being read, names being looked up, and one to accept a
// connection that is then closed; a process without connections has about 30.
const ownFiles = 64
const filesPerThread = 8
const leastShared = 48
const usualLimit = 1_024

/** How many files this process may have open; Node raises the soft limit to the hard one when it starts. */
export function openFileLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(limits) ?? []
    return soft === 'unlimited' ? Infinity : Number(soft ?? usualLimit)
  } catch {
    return usualLimit
  }
}

/**
 * Websockets have up to two thirds of what is left. Of the rest, inbound connections have two thirds, those to endpoints a
 * quarter, and those to backends what remains; throws when all that is next to nothing.
 */
export function shareConnections(limit: number, needs: Needs): ConnectionShares {
  const taken =
    ownFiles +
    needs.threads * filesPerThread +
    needs.database +
    needs.blobStores +
    needs.redis +
    healthConnections
  const sockets = Math.min(needs.maxSockets, Math.floor(((limit - taken) * 2) / 3))
  const shared = limit - taken - sockets
  if (limit - taken < leastShared)
    throw new Error(
      `the limit of open files is too low: it is ${limit}, and this configuration needs ${taken + leastShared} (ulimit -n)`,
    )
  return {
    api: Math.min(needs.maxApi, Math.floor((shared * 2) / 3)),
    outbound: Math.min(needs.maxOutbound, Math.floor(shared / 4)),
    callbacks: Math.floor(shared / 12),
    sockets,
  }
}
