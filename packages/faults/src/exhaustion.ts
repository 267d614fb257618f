// Withholds PostgreSQL resources, either every connection or a table, from the service.
import { Client } from 'pg'
import { pause } from './children.ts'
import type { Cluster } from './cluster.ts'

/** A withheld resource. `release` makes it available again. */
export type HeldResource = { release(): Promise<void> }

const holderName = 'holds connections'
const batchSize = 50
const timeoutMs = 15_000

async function connect({ adminUrl }: Pick<Cluster, 'adminUrl'>, name: string): Promise<Client> {
  const client = new Client({ connectionString: adminUrl, application_name: name })
  // Ignore the error, because the server terminates this connection.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** Locks a table exclusively, which also blocks readers. */
export async function lockTable(cluster: Pick<Cluster, 'adminUrl'>, table: 'tenants'): Promise<HeldResource> {
  const client = await connect(cluster, 'locks a table')
  await client.query('begin')
  await client.query(`lock table ${table} in access exclusive mode`)
  return { release: () => client.end() }
}

/** Terminates the sessions of the service and occupies all connections of the server. */
export async function occupyConnections(
  cluster: Pick<Cluster, 'adminUrl'>,
): Promise<HeldResource & { count: number }> {
  // Opens this connection first, because no connection will be free later.
  const first = await connect(cluster, 'releases connections')
  const open = async (): Promise<boolean> => {
    try {
      const client = await connect(cluster, holderName)
      // The connection stays busy until the server terminates it.
      client.query('select pg_sleep(600)').catch(() => undefined)
      return true
    } catch {
      return false
    }
  }
  let count = 0
  for (const end = Date.now() + timeoutMs; ; await pause(20)) {
    await first.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'manager%'",
    )
    const opened = await Promise.all(Array.from({ length: batchSize }, open))
    count += opened.filter(Boolean).length
    const { rows } = await first.query<{ own: number }>(
      "select count(*)::int as own from pg_stat_activity where application_name like 'manager%'",
    )
    if (opened.includes(false) && rows[0]?.own === 0) break
    if (Date.now() > end) throw new Error(`the service still has connections after ${timeoutMs / 1_000} s`)
  }
  return {
    count,
    release: async () => {
      await first.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1',
        [holderName],
      )
      await first.end()
    },
  }
}
