// Takes what the service needs of PostgreSQL away from it: every connection, or the rows of a table.
import { Client } from 'pg'
import { pause } from './children.ts'
import type { Cluster } from './cluster.ts'

/** Gives it back. */
export type Held = { release(): Promise<void> }

const holderName = 'holds connections'
const atOnce = 50
const takeMs = 15_000

async function connect({ adminUrl }: Pick<Cluster, 'adminUrl'>, name: string): Promise<Client> {
  const client = new Client({ connectionString: adminUrl, application_name: name })
  // It is ended by the server.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** Locks a table against everybody, also against who only reads. */
export async function holdTable(cluster: Pick<Cluster, 'adminUrl'>, table: 'tenants'): Promise<Held> {
  const client = await connect(cluster, 'holds a table')
  await client.query('begin')
  await client.query(`lock table ${table} in access exclusive mode`)
  return { release: () => client.end() }
}

/** Ends the sessions of the service and takes all connections that the server has. */
export async function holdConnections(cluster: Pick<Cluster, 'adminUrl'>): Promise<Held & { count: number }> {
  // Opened before, since it would find no place later.
  const first = await connect(cluster, 'lets go of connections')
  const open = async (): Promise<boolean> => {
    try {
      const client = await connect(cluster, holderName)
      // Until the server ends it.
      client.query('select pg_sleep(600)').catch(() => undefined)
      return true
    } catch {
      return false
    }
  }
  let count = 0
  for (const end = Date.now() + takeMs; ; await pause(20)) {
    await first.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'manager%'",
    )
    const opened = await Promise.all(Array.from({ length: atOnce }, open))
    count += opened.filter(Boolean).length
    const { rows } = await first.query<{ own: number }>(
      "select count(*)::int as own from pg_stat_activity where application_name like 'manager%'",
    )
    if (opened.includes(false) && rows[0]?.own === 0) break
    if (Date.now() > end) throw new Error('the service keeps connections')
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
