// Connection poolers that hand the sessions of the server round. Statements are prepared under names that belong to a
// session: where two clients share one, a client may run the other's statement and get its rows. A start behind such a
// pooler is refused.
import { randomBytes } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'

const rounds = 2
// The name is taken, unknown, or stands for a statement with other parameters: none of it happens in a session of one's own.
const mixedStates = new Set(['42P05', '26000', '08P01'])

/** Throws, in one sentence, when statements of two connections are mixed up. Costs some round trips on two connections. */
export async function assertOwnStatements(pool: Pool): Promise<void> {
  const clients = [await pool.connect()]
  let isMixed = true
  try {
    clients.push(await pool.connect())
    isMixed = await areMixed(clients)
  } finally {
    for (const client of clients) client.release(isMixed)
  }
  if (isMixed)
    throw new Error(
      'the connection pooler in front of PostgreSQL mixes up prepared statements of different clients; let it pool by session, or use PgBouncer 1.21 or newer with max_prepared_statements above 0',
    )
}

/** Both prepare another statement under the same name, and each has to get its own result. */
async function areMixed(clients: readonly PoolClient[]): Promise<boolean> {
  const name = `probe_${randomBytes(6).toString('hex')}`
  try {
    for (let round = 0; round < rounds; round++)
      for (const [number, client] of clients.entries()) {
        const text = `select $1::int as seen, ${number} as own`
        const { rows } = await client.query<{ own: number }>({ name, text, values: [round] })
        if (rows[0]?.own !== number) return true
      }
    // Not deallocated: PgBouncer gives statements other names, of which SQL knows nothing. They end with the connections.
    return false
  } catch (error) {
    if (mixedStates.has((error as { code?: string }).code ?? '')) return true
    throw error
  }
}
