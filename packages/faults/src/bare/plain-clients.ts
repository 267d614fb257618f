// Plain PostgreSQL clients and Redis Sentinel clients, which write without using the service.
import { Client } from 'pg'
import { createSentinel } from 'redis'
import type { RedisTopology } from '@manager/harness/engines/redis-topology.ts'
import { type Writers, findLost, startWriters } from './writers.ts'

export type PlainClients = {
  writers: Writers
  /** Stops the writers and resolves to the acknowledged writes that are missing. The server must be healthy. */
  findLost(): Promise<string[]>
  end(): Promise<void>
}
/** `name` separates the writes of these clients from other writes. */
type Plain = { count: number; name: string }

async function connectTo(url: string): Promise<Client> {
  // Without timeouts, a client on a dead link waits forever.
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 2_000,
    query_timeout: 4_000,
    keepAlive: true,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return client
  } catch (error) {
    client.end().catch(() => undefined)
    throw error
  }
}

async function once(url: string, text: string, values: unknown[] = []): Promise<{ id: string }[]> {
  const client = await connectTo(url)
  try {
    return (await client.query<{ id: string }>(text, values)).rows
  } finally {
    await client.end()
  }
}

/** Starts clients that insert rows, each over its own connection. */
export async function startPostgresClients(url: string, { count, name }: Plain): Promise<PlainClients> {
  await once(url, 'create table if not exists bare (name text, id text)')
  const writers = startWriters(count, async () => {
    const client = await connectTo(url)
    return {
      write: (id) => client.query('insert into bare (name, id) values ($1, $2)', [name, id]),
      close: () => void client.end().catch(() => undefined),
    }
  })
  return {
    writers,
    end: () => writers.stop(),
    findLost: async () => {
      await writers.stop()
      const rows = await once(url, 'select id from bare where name = $1', [name])
      return findLost(writers.acknowledged, new Set(rows.map(({ id }) => id)))
    },
  }
}

/** Starts clients that set keys on the current master. */
export async function startRedisClients(
  { addresses }: Pick<RedisTopology, 'addresses'>,
  { count, name }: Plain,
): Promise<PlainClients> {
  const client = createSentinel({
    name: 'main',
    sentinelRootNodes: addresses.map((address) => {
      const [host = '', port = ''] = address.split(':')
      return { host, port: Number(port) }
    }),
    masterPoolSize: 4,
    scanInterval: 1_000,
  })
  client.on('error', () => undefined)
  await client.connect()
  const keyOf = (id: string): string => `${name} ${id}`
  const writers = startWriters(count, () =>
    Promise.resolve({ write: (id) => withinSecond(client.set(keyOf(id), '1')), close: () => undefined }),
  )
  return {
    writers,
    end: async () => {
      await writers.stop()
      await client.destroy()
    },
    findLost: async () => {
      await writers.stop()
      const present = new Set<string>()
      for (const { id } of writers.acknowledged) if ((await client.get(keyOf(id))) !== null) present.add(id)
      return findLost(writers.acknowledged, present)
    },
  }
}

/** Rejects after 1 s. Without this limit, the client queues a command for as long as the server is unreachable. */
async function withinSecond(work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('no reply within 1 s')), 1_000)
  work.catch(() => undefined)
  try {
    await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
