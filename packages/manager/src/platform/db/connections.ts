// Connections that break, hang or lead to the wrong server. A pool hands out what it holds; these rules keep what it
// holds usable.
import type { Pool, PoolClient } from 'pg'

type Internals = {
  query: (...args: unknown[]) => unknown
  connection: { stream: { destroy(): void } }
}

/** The server takes no writes: a standby, or a primary that has become one. */
export const isReadOnly = (error: unknown): boolean =>
  (error as { code?: string } | undefined)?.code === '25006'

/**
 * Applies to every connection the pool opens from now on. `onReadOnly` is called when one of them reports a server that
 * takes no writes. The returned function closes all existing connections, each when it is not in use: those that
 * only read would keep using such a server, and its old rows, forever.
 */
export function keepConnectionsHonest(pool: Pool, onReadOnly: () => void = () => undefined): () => void {
  const openedIn = new WeakMap<object, number>()
  let generation = 0
  const noteError = (error: unknown): void => {
    if (isReadOnly(error)) onReadOnly()
  }
  pool.on('connect', (client: PoolClient) => {
    // The pool listens only while a connection is idle. Without a listener, one that breaks in use ends the process;
    // the query in flight fails by itself.
    client.on('error', () => undefined)
    destroyWhenUnusable(client, noteError)
    openedIn.set(client, generation)
  })
  pool.on('release', (error, client) => {
    noteError(error)
    // The pool then takes it for used up.
    if (openedIn.get(client) !== generation) Object.assign(client, { _poolUseCount: Infinity })
  })
  return () => {
    generation++
    for (let idle = pool.idleCount; idle > 0; idle--) pool.connect((_error, _client, release) => release())
  }
}

/**
 * After a read timeout it is unknown what the server did or will do with the statement: a BEGIN may still run, and a
 * dead route stays dead. After the server said that it ends the connection (57P01 to 57P05), the pool would still hand
 * it out until the end arrives; and one that takes no writes (25006) may long have a successor. The socket is
 * destroyed, so the pool drops the connection and the server rolls back.
 */
function destroyWhenUnusable(client: Internals, noteError: (error: unknown) => void): void {
  const query = client.query.bind(client)
  client.query = (...args) => {
    const result = query(...args)
    if (result instanceof Promise)
      result.catch((error: unknown) => {
        noteError(error)
        if (isUnusableAfter(error)) client.connection.stream.destroy()
      })
    return result
  }
}

function isUnusableAfter(error: unknown): boolean {
  const { message, code } = error as { message?: string; code?: string }
  return message === 'Query read timeout' || isReadOnly(error) || /^57P0[1-5]$/.test(code ?? '')
}
