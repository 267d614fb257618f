// Detects connection poolers that share server sessions between clients. The names of prepared statements
// belong to a session: if two clients share a session, one client may run the other's statement and get its
// rows. The service refuses to start behind such a pooler.
import { randomBytes } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'

const roundCount = 2
// SQLSTATEs for a statement name that is already in use, is unknown, or belongs to a statement with other parameters.
// None of these errors can occur in an exclusive session.
const mixedStatementStates = new Set(['42P05', '26000', '08P01'])

/**
 * Throws if a pooler mixes up the prepared statements of two connections. Costs a few round trips on each connection.
 */
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
      'the connection pooler in front of PostgreSQL mixes up prepared statements of different clients; use session pooling, or PgBouncer 1.21 or newer with max_prepared_statements above 0',
    )
}

/** The clients prepare different statements under the same name, and each must get its own result. */
async function areMixed(clients: readonly PoolClient[]): Promise<boolean> {
  const name = `probe_${randomBytes(6).toString('hex')}`
  try {
    for (let round = 0; round < roundCount; round++)
      for (const [number, client] of clients.entries()) {
        const text = `select $1::int as seen, ${number} as own`
        const { rows } = await client.query<{ own: number }>({ name, text, values: [round] })
        if (rows[0]?.own !== number) return true
      }
    // The statements are discarded when their connections close. SQL cannot deallocate them, because PgBouncer renames
    // them.
    return false
  } catch (error) {
    if (mixedStatementStates.has((error as { code?: string }).code ?? '')) return true
    throw error
  }
}
