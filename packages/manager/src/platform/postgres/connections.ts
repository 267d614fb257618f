// Handles connections that break, hang or lead to the wrong server. An error on one connection also retires the others,
// so that no second request fails for the same reason.
import { Socket } from 'node:net'
import { Client, type ClientConfig, type Pool, type PoolClient, type QueryConfig, type QueryResult } from 'pg'
import { isLost } from './outcomes.ts'

/** A connection that owns its socket, so that it can close without a response from the server. */
export class Connection extends Client {
  readonly #socket: Socket
  #isIdle = false
  #hasFailed = false
  /** A retired connection is closed as soon as it is idle, and it is not handed out again. */
  isRetired = false
  onFailed: (error: unknown) => void = () => undefined

  constructor(config?: string | ClientConfig) {
    const socket = new Socket()
    super({ ...(typeof config === 'string' ? { connectionString: config } : config), stream: () => socket })
    this.#socket = socket
  }

  /** Closes the socket. The pool removes the connection, and the server rolls back. */
  destroy(): void {
    this.#socket.destroy()
  }

  /** Skips a connection that has already failed: it closes anyway, and its error must still be logged. */
  retire(): void {
    if (this.#hasFailed) return
    this.isRetired = true
    if (this.#isIdle) this.destroy()
  }

  setIdle(isIdle: boolean): void {
    this.#isIdle = isIdle
    if (isIdle && this.isRetired) this.destroy()
  }

  /** Reports only the first error: later errors only say that the connection is closed. */
  reportError(error: unknown, isAboutServer = true): void {
    const isFirstError = !this.#hasFailed && !this.isRetired
    this.#hasFailed = true
    if (isFirstError && isAboutServer) this.onFailed(error)
  }
}

/** Casts a client from a pool whose `Client` class is `Connection`. */
export const toConnection = (client: PoolClient): Connection => client as unknown as Connection

/** Whether the server rejects writes: it is a standby or a demoted primary. */
export const isReadOnly = (error: unknown): boolean =>
  (error as { code?: string } | undefined)?.code === '25006'

const isTimeout = (error: unknown): boolean => (error as Error | undefined)?.message === 'Query read timeout'
const isUnusableAfter = (error: unknown): boolean => isTimeout(error) || isLost(error)

/** `isShort`: less time remains than a statement may take. */
export type TimedQuery = QueryConfig & { query_timeout: number; isShort: boolean }

/**
 * Runs a statement, and destroys the connection after errors that make it unusable. After a read timeout the server
 * may still run the statement, such as a BEGIN, or the route to it is dead. After 57P01 to 57P05 the server closes the
 * connection, but the pool would hand it out until the close arrives. After 25006 (read-only server), a different
 * server may be the primary.
 */
export async function queryOn(
  client: PoolClient,
  { isShort, ...query }: TimedQuery,
): Promise<QueryResult<Record<string, unknown>>> {
  try {
    return await client.query<Record<string, unknown>>(query)
  } catch (error) {
    if (isUnusableAfter(error)) {
      // A timeout says nothing about the server if the caller had little time left.
      toConnection(client).reportError(error, !(isShort && isTimeout(error)))
      toConnection(client).destroy()
    }
    throw error
  }
}

/** Receives the error that made a connection unusable, unless the connection had already been retired. */
type OnFailed = (error: unknown, renewOwn: () => void) => void

/**
 * Watches every connection that the pool opens from now on. The returned function retires all open connections.
 * Otherwise, connections that only read would keep using a previous server and its stale rows.
 */
export function watchConnections(pool: Pool, onFailed: OnFailed = () => undefined): () => void {
  const openConnections = new Set<Connection>()
  const renew = (): void => {
    for (const connection of openConnections) connection.retire()
  }
  pool.on('connect', (client: PoolClient) => {
    const connection = toConnection(client)
    openConnections.add(connection)
    connection.onFailed = (error) => onFailed(error, renew)
    // The pool only listens while a connection is idle. Without this listener, a connection that breaks in use would
    // crash the process. The query in flight fails separately.
    connection.on('error', (error) => connection.reportError(error))
  })
  pool.on('acquire', (client) => toConnection(client).setIdle(false))
  pool.on('release', (error, client) => {
    if (isUnusableAfter(error)) toConnection(client).reportError(error)
    toConnection(client).setIdle(true)
  })
  pool.on('remove', (client) => void openConnections.delete(toConnection(client)))
  return renew
}

const firstGapMs = 1_000
const longestGapMs = 10_000
const quietPeriodMs = 30_000

/** Replaces the connections of all pools after a connection was lost. */
export type Renewals = {
  /** Watches the connections of this pool. */
  add(pool: Pool): void
  /** Reports a failed connection attempt. */
  recordRefusal: (error: Error) => void
  /** Closes the connections of all pools, each as soon as it is idle. */
  renew: () => void
  close(): void
}

/**
 * When a connection is lost, the other connections to the server are retired. Those of the same pool are always
 * retired immediately. Those of all pools are retired immediately the first time, and then at most once per second.
 * The interval grows while new connections are lost too.
 */
export function createRenewals(onReadOnly: () => void): Renewals {
  const poolRenewers: (() => void)[] = []
  let [lastAt, gapMs] = [-Infinity, 0]
  let renewTimer: NodeJS.Timeout | undefined
  const renew = (): void => {
    clearTimeout(renewTimer)
    renewTimer = undefined
    for (const renewPool of poolRenewers) renewPool()
  }
  const renewWithPause = (): void => {
    if (renewTimer !== undefined) return
    const waitMs = lastAt + gapMs - performance.now()
    if (waitMs < -quietPeriodMs) gapMs = 0
    const start = (): void => {
      lastAt = performance.now()
      gapMs = Math.min(longestGapMs, Math.max(firstGapMs, gapMs * 2))
      renew()
    }
    if (waitMs <= 0) start()
    else renewTimer = setTimeout(start, waitMs).unref()
  }
  const handleFailure: OnFailed = (error, renewOwn) => {
    if (isReadOnly(error)) onReadOnly()
    else if (isLost(error)) renewOwn()
    renewWithPause()
  }
  return {
    add: (pool) => void poolRenewers.push(watchConnections(pool, handleFailure)),
    recordRefusal: (error) => {
      // The server is starting or stopping, so open connections lead to a server that has stopped or will stop.
      if ((error as { code?: string }).code === '57P03') renewWithPause()
    },
    renew,
    close: () => clearTimeout(renewTimer),
  }
}
