// One connection to one Redis server or sentinel, and how long it is waited for.
import { createClient } from 'redis'

/** Where a server listens, as `host:port`, an IPv6 address in brackets. */
export type Place = string

/** Servers of a topology share scheme, user, password and database number. */
export type OpenClient = (place: Place, options?: { reconnects: boolean }) => RedisClient
export type RedisClient = ReturnType<typeof openClient>

const maxQueuedCommands = 10_000

/** Opens connections as the URL says, to whatever place; nothing connects yet. */
export const clientsOf =
  (url: string): OpenClient =>
  (place, { reconnects } = { reconnects: false }) =>
    openClient(urlAt(url, place), reconnects)

/** The same URL with another host and port. */
function urlAt(url: string, place: Place): string {
  const placed = new URL(url)
  placed.host = place
  return placed.href
}

function openClient(url: string, reconnects: boolean) {
  return createClient({
    url,
    RESP: 3,
    disableOfflineQueue: true,
    commandsQueueMaxLength: maxQueuedCommands,
    // Whoever sends a command limits its time; a timer of the library for each would cost more than the command.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: 1_000,
      // Pings go out all the time; a connection that brings nothing for this long is dead and is opened again.
      socketTimeout: 3_000,
      reconnectStrategy: reconnects ? (tries) => Math.min(100 * 2 ** tries, 2_000) : false,
    },
  })
}

/** The place that a URL names. */
export function placeOfUrl(url: string): Place {
  const { hostname, port } = new URL(url)
  return `${hostname}:${port === '' ? '6379' : port}`
}

/** The place of a host, which a server names without brackets, and a port. */
export const placeAt = (host: string, port: number | string): Place =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`

/** Both parts of a place. */
export function splitPlace(place: Place): { host: string; port: number } {
  const colon = place.lastIndexOf(':')
  return { host: place.slice(0, colon), port: Number(place.slice(colon + 1)) }
}

class TooLate extends Error {}
export const tooLate = new TooLate('redis did not answer in time')

/** The result, or a rejection with `tooLate` after `ms` milliseconds; a later result is dropped. */
export async function within<T>(ms: number, result: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    // After a busy turn of the event loop the timer fires before a response that has arrived: let it be read first.
    timer = setTimeout(() => setImmediate(reject, tooLate), ms)
    timer.unref()
  })
  try {
    return await Promise.race([result, timeout])
  } finally {
    clearTimeout(timer)
  }
}

/** ECONNREFUSED, WRONGPASS or ConnectionTimeoutError, for example. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code, message } = error as Error & { code?: string }
  return code ?? /^[A-Z]{3,20}(?= )/.exec(message)?.[0] ?? error.constructor.name
}

const misplaced = new Set(['MOVED', 'ASK', 'CLUSTERDOWN', 'READONLY', 'MASTERDOWN', 'TRYAGAIN'])

/** Whether the server says that another one has the key, or that it is no master. */
export const isMisplaced = (error: unknown): boolean => misplaced.has(reasonOf(error))
