// Every connection is an open file, and the number of open files is limited. Each kind of connection has a share, so
// that no kind uses up the files of other kinds. Without a free file, database connections and health requests fail,
// and Node itself can fail in unexpected places.
import { readFileSync } from 'node:fs'

/** Maximum number of connections of each kind. */
export type ConnectionShares = {
  /** Connections of the API port. */
  api: number
  /** Connections to all ESB endpoints, in total. */
  outbound: number
  /** Connections for callbacks to backends. */
  callbacks: number
  /** WebSocket connections. */
  sockets: number
}
type ConnectionNeeds = {
  /** Connections to PostgreSQL, in all pools. */
  database: number
  redis: number
  /** Connections to buckets. */
  blobStores: number
  /** Connections to an LDAP directory. */
  directory: number
  /** Worker threads; each has its own event loop. */
  threads: number
  /** Upper limits for each kind, independent of the open file limit. */
  maxApi: number
  maxOutbound: number
  /** 0 in a process without WebSockets. */
  maxSockets: number
}

/** Maximum number of connections on the health port, independent of the other ports. */
export const healthConnections = 16
// The reserve covers standard streams, the event loop, listeners, files being read, DNS lookups, and one connection to
// accept and close. A process without connections has about 30 open files.
const baseFiles = 64
const filesPerThread = 8
const minSharedFiles = 48
const defaultLimit = 1_024
// The maximum of triggers.max_deliveries. Without this bound, the share would be infinite if the number of
// open files is unlimited.
const maxCallbacks = 10_000

/** Returns how many files this process may open; at startup, Node raises the soft limit to the hard limit. */
export function readOpenFileLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(limits) ?? []
    return soft === 'unlimited' ? Infinity : Number(soft ?? defaultLimit)
  } catch {
    return defaultLimit
  }
}

/**
 * Divides the remaining files. WebSockets get up to two thirds. Inbound connections get two thirds of the rest, ESB
 * endpoints a quarter, and callbacks a twelfth. Throws if fewer than 48 files remain.
 */
export function divideConnections(limit: number, needs: ConnectionNeeds): ConnectionShares {
  const reservedFiles =
    baseFiles +
    needs.threads * filesPerThread +
    needs.database +
    needs.blobStores +
    needs.directory +
    needs.redis +
    healthConnections
  const sockets = Math.min(needs.maxSockets, Math.floor(((limit - reservedFiles) * 2) / 3))
  const sharedFiles = limit - reservedFiles - sockets
  if (limit - reservedFiles < minSharedFiles)
    throw new Error(
      `the open file limit is too low: it is ${limit}, but this configuration needs ${reservedFiles + minSharedFiles} (ulimit -n)`,
    )
  return {
    api: Math.min(needs.maxApi, Math.floor((sharedFiles * 2) / 3)),
    outbound: Math.min(needs.maxOutbound, Math.floor(sharedFiles / 4)),
    callbacks: Math.min(maxCallbacks, Math.floor(sharedFiles / 12)),
    sockets,
  }
}
