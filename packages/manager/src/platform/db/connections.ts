// Connections that break or go dark. A pool hands out what it holds; these two rules keep what it holds usable.
import type { Pool, PoolClient } from 'pg'

type Internals = { query: (...args: unknown[]) => unknown; connection: { stream: { destroy(): void } } }

/** Applies to every connection the pool opens from now on. */
export function keepConnectionsHonest(pool: Pool): void {
  pool.on('connect', (client: PoolClient) => {
    // The pool listens only while a connection is idle. Without a listener, one that breaks in use ends the process; the
    // query under way fails by itself.
    client.on('error', () => undefined)
    destroyOnReadTimeout(client)
  })
}

/**
 * After a read timeout nobody knows what the server did or will do with the statement: a BEGIN may still run, and a
 * dead route stays dead. The socket is destroyed, so the pool drops the connection and the server rolls back.
 */
function destroyOnReadTimeout(client: Internals): void {
  const query = client.query.bind(client)
  client.query = (...args) => {
    const result = query(...args)
    if (result instanceof Promise)
      result.catch((error: unknown) => {
        if (error instanceof Error && error.message === 'Query read timeout')
          client.connection.stream.destroy()
      })
    return result
  }
}
