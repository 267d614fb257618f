// Connections that break, hang or lead to the wrong server. What one connection learns about the server counts for the others:
// no two requests fail for one reason.
import { Socket } from 'node:net'
import { Client, type ClientConfig, type Pool, type PoolClient, type QueryConfig, type QueryResult } from 'pg'
import { isLost } from './outcomes.ts'

/** A connection that owns its socket, so that it can close it without an answer of the server. */
export class Connection extends Client {
  readonly #socket: Socket
  #isIdle = false
  #isUseless = false
  /** It is closed as soon as it is idle, and not handed out any more. */
  isRetired = false
  onUseless: (error: unknown) => void = () => undefined

  constructor(config?: string | ClientConfig) {
    const socket = new Socket()
    super({ ...(typeof config === 'string' ? { connectionString: config } : config), stream: () => socket })
    this.#socket = socket
  }

  /** The pool drops the connection, and the server rolls back. */
  destroy(): void {
    this.#socket.destroy()
  }

  /** A useless connection ends anyway, and its error is logged. */
  retire(): void {
    if (this.#isUseless) return
    this.isRetired = true
    if (this.#isIdle) this.destroy()
  }

  setIdle(isIdle: boolean): void {
    this.#isIdle = isIdle
    if (isIdle && this.isRetired) this.destroy()
  }

  /** The first error is the reason; the next ones only say that the connection ends. */
  noteError(error: unknown, isAboutServer = true): void {
    const isNews = !this.#isUseless && !this.isRetired
    this.#isUseless = true
    if (isNews && isAboutServer) this.onUseless(error)
  }
}

/** The connection that a pool whose `Client` is a `Connection` has handed out. */
export const connectionOf = (client: PoolClient): Connection => client as unknown as Connection

/** The server takes no writes: a standby, or a primary that has become one. */
export const isReadOnly = (error: unknown): boolean =>
  (error as { code?: string } | undefined)?.code === '25006'

const isTimeout = (error: unknown): boolean => (error as Error | undefined)?.message === 'Query read timeout'
const isUnusableAfter = (error: unknown): boolean => isTimeout(error) || isLost(error)

/** `isShort`: the caller has less time left than a statement may take. */
export type TimedQuery = QueryConfig & { query_timeout: number; isShort: boolean }

/**
 * Runs a statement. After a read timeout it is unknown what the server does with the statement: a BEGIN may still run, and a
 * dead route stays dead. After the server said that it ends the connection (57P01 to 57P05), the pool would still hand it out
 * until the end arrives; and a server that takes no writes (25006) may have a successor. Then the connection is destroyed.
 */
export async function queryOn(
  client: PoolClient,
  { isShort, ...query }: TimedQuery,
): Promise<QueryResult<Record<string, unknown>>> {
  try {
    return await client.query<Record<string, unknown>>(query)
  } catch (error) {
    if (isUnusableAfter(error)) {
      // A timeout of a caller that had little time left says nothing about the server.
      connectionOf(client).noteError(error, !(isShort && isTimeout(error)))
      connectionOf(client).destroy()
    }
    throw error
  }
}

/** What a pool reports: the error that made a connection useless, unless it was retired before. */
type OnUseless = (error: unknown, renewOwn: () => void) => void

/**
 * Applies to every connection the pool opens from now on. The returned function retires all existing connections: those that
 * only read would keep using a previous server, and its old rows, forever.
 */
export function watchConnections(pool: Pool, onUseless: OnUseless = () => undefined): () => void {
  const open = new Set<Connection>()
  const renew = (): void => {
    for (const connection of open) connection.retire()
  }
  pool.on('connect', (client: PoolClient) => {
    const connection = connectionOf(client)
    open.add(connection)
    connection.onUseless = (error) => onUseless(error, renew)
    // The pool listens only while a connection is idle. Without a listener, one that breaks in use ends the process; the
    // query in flight fails by itself.
    connection.on('error', (error) => connection.noteError(error))
  })
  pool.on('acquire', (client) => connectionOf(client).setIdle(false))
  pool.on('release', (error, client) => {
    if (isUnusableAfter(error)) connectionOf(client).noteError(error)
    connectionOf(client).setIdle(true)
  })
  pool.on('remove', (client) => void open.delete(connectionOf(client)))
  return renew
}

const firstGapMs = 1_000
const longestGapMs = 10_000
const calmMs = 30_000

export type Renewals = {
  /** Watches the connections of this pool. */
  add(pool: Pool): void
  /** A connection could not be made. */
  noteRefusal: (error: Error) => void
  /** Closes the connections of all pools, each when it is not in use. */
  renew: () => void
  close(): void
}

/**
 * When one connection is lost, the others to the same server are not handed out any more: those of its own pool immediately,
 * those of all pools immediately too, and then at most once a second, less and less often while new ones are lost as well.
 */
export function createRenewals(onReadOnly: () => void): Renewals {
  const pools: (() => void)[] = []
  let [lastAt, gapMs] = [-Infinity, 0]
  let soon: NodeJS.Timeout | undefined
  const renew = (): void => {
    clearTimeout(soon)
    soon = undefined
    for (const renewOne of pools) renewOne()
  }
  const renewPaced = (): void => {
    if (soon !== undefined) return
    const waitMs = lastAt + gapMs - performance.now()
    if (waitMs < -calmMs) gapMs = 0
    const start = (): void => {
      lastAt = performance.now()
      gapMs = Math.min(longestGapMs, Math.max(firstGapMs, gapMs * 2))
      renew()
    }
    if (waitMs <= 0) start()
    else soon = setTimeout(start, waitMs).unref()
  }
  const noteUseless: OnUseless = (error, renewOwn) => {
    if (isReadOnly(error)) onReadOnly()
    else if (isLost(error)) renewOwn()
    renewPaced()
  }
  return {
    add: (pool) => void pools.push(watchConnections(pool, noteUseless)),
    noteRefusal: (error) => {
      // A server that starts or ends: connections that are open lead to one that has ended, or will.
      if ((error as { code?: string }).code === '57P03') renewPaced()
    },
    renew,
    close: () => clearTimeout(soon),
  }
}
