// Connections that break or go dark. A pool hands out what it holds; these two rules keep what it holds usable.
import type { Pool, PoolClient } from 'pg'

type Internals = { query: (...args: unknown[]) => unknown; connection: { stream: { destroy(): void } } }

/** Applies to every connection the pool opens from now on. */
export function keepConnectionsHonest(pool: Pool): void {
  pool.on('connect', (client: PoolClient) => {
    // The pool listens only while a connection is idle. Without a listener, one that breaks in use ends the process; the
    // query under way fails by itself.
    client.on('error', () => undefined)
    destroyWhenUnusable(client)
  })
}

/**
 * After a read timeout nobody knows what the server did or will do with the statement: a BEGIN may still run, and a
 * dead route stays dead. After the server said that it ends the connection (57P01 to 57P03), the pool would still hand
 * it out until the end arrives. The socket is destroyed, so the pool drops the connection and the server rolls back.
 */
function destroyWhenUnusable(client: Internals): void {
  const query = client.query.bind(client)
  client.query = (...args) => {
    const result = query(...args)
    if (result instanceof Promise)
      result.catch((error: unknown) => {
        if (isUnusableAfter(error)) client.connection.stream.destroy()
      })
    return result
  }
}

function isUnusableAfter(error: unknown): boolean {
  const { message, code } = error as { message?: string; code?: string }
  return message === 'Query read timeout' || /^57P0[1-3]$/.test(code ?? '')
}
