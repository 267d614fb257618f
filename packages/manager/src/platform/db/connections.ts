// Connections that break, hang or lead to the wrong server. A pool hands out what it holds; these rules keep what it
// holds usable. Whatever one connection learns of the server counts for the others: no two requests fail for one reason.
import type { Pool, PoolClient } from 'pg'
import { isLost } from './outcomes.ts'

type Internals = {
  query: (...args: unknown[]) => unknown
  connection: { stream: { destroy(): void } }
}
type PoolInternals = { _idle: readonly { client: Internals }[]; _remove: (client: Internals) => void }

/** The server takes no writes: a standby, or a primary that has become one. */
export const isReadOnly = (error: unknown): boolean =>
  (error as { code?: string } | undefined)?.code === '25006'

/** What a pool reports: the error that made a connection useless, unless the pool has been renewed since it was opened. */
type OnUseless = (error: unknown, renewOwn: () => void) => void

/**
 * Applies to every connection the pool opens from now on. The returned function closes all existing connections, each when
 * it is not in use: those that only read would keep using a former server, and its old rows, forever.
 */
export function keepConnectionsHonest(pool: Pool, onUseless: OnUseless = () => undefined): () => void {
  const openedIn = new WeakMap<object, number>()
  const useless = new WeakSet<object>()
  let generation = 0
  const renew = (): void => {
    generation++
    const { _idle: idle, _remove: remove } = pool as unknown as PoolInternals
    for (const { client } of Array.from(idle)) {
      remove.call(pool, client)
      // On a dead route nothing answers the goodbye.
      setTimeout(() => client.connection.stream.destroy(), goodbyeMs).unref()
    }
  }
  /** The first error says why; what follows is that the connection ends. */
  const note = (client: object, error: unknown): void => {
    if (useless.has(client)) return
    useless.add(client)
    if (openedIn.get(client) === generation) onUseless(error, renew)
  }
  pool.on('connect', (client: PoolClient) => {
    // The pool listens only while a connection is idle. Without a listener, one that breaks in use ends the process;
    // the query in flight fails by itself.
    client.on('error', (error) => note(client, error))
    destroyWhenUnusable(client, (error, isShortened) => {
      // Its caller had less time left than a statement may take, which says nothing of the server.
      if (isShortened && isTimeout(error)) useless.add(client)
      else note(client, error)
    })
    openedIn.set(client, generation)
  })
  pool.on('release', (error, client) => {
    if (isUnusableAfter(error)) note(client, error)
    // The pool then takes it for used up.
    if (openedIn.get(client) !== generation) Object.assign(client, { _poolUseCount: Infinity })
  })
  return renew
}

const goodbyeMs = 1_000

/**
 * After a read timeout it is unknown what the server did or will do with the statement: a BEGIN may still run, and a
 * dead route stays dead. After the server said that it ends the connection (57P01 to 57P05), the pool would still hand
 * it out until the end arrives; and one that takes no writes (25006) may long have a successor. The socket is
 * destroyed, so the pool drops the connection and the server rolls back.
 */
function destroyWhenUnusable(client: Internals, note: (error: unknown, isShortened: boolean) => void): void {
  const query = client.query.bind(client)
  client.query = (...args) => {
    const result = query(...args)
    if (result instanceof Promise)
      result.catch((error: unknown) => {
        if (!isUnusableAfter(error)) return
        note(error, (args[0] as { query_timeout?: number }).query_timeout !== undefined)
        client.connection.stream.destroy()
      })
    return result
  }
}

const isTimeout = (error: unknown): boolean => (error as Error | undefined)?.message === 'Query read timeout'
const isUnusableAfter = (error: unknown): boolean => isTimeout(error) || isLost(error)

const firstGapMs = 1_000
const longestGapMs = 10_000
const calmMs = 30_000

export type Renewals = {
  /** Keeps the connections of this pool honest. */
  add(pool: Pool): void
  /** A connection could not be made. */
  noteRefusal: (error: Error) => void
  /** Closes the connections of all pools, each when it is not in use. */
  renew: () => void
  close(): void
}

/**
 * When one connection is lost, the others to the same server are not handed out any more: those of its own pool at once,
 * those of all pools at once too, and then at most once a second, less and less often while new ones are lost as well.
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
    const begin = (): void => {
      lastAt = performance.now()
      gapMs = Math.min(longestGapMs, Math.max(firstGapMs, gapMs * 2))
      renew()
    }
    if (waitMs <= 0) begin()
    else soon = setTimeout(begin, waitMs).unref()
  }
  const noteUseless: OnUseless = (error, renewOwn) => {
    if (isReadOnly(error)) onReadOnly()
    else if (isLost(error)) renewOwn()
    renewPaced()
  }
  return {
    add: (pool) => void pools.push(keepConnectionsHonest(pool, noteUseless)),
    noteRefusal: (error) => {
      // A server that starts or ends: connections that are open lead to one that has ended, or will.
      if ((error as { code?: string }).code === '57P03') renewPaced()
    },
    renew,
    close: () => clearTimeout(soon),
  }
}
