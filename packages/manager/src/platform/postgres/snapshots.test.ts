// Tests long reads on separate connections: how they end, and how many can be open.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Pool } from 'pg'
import { createConnectGate } from './connect-gate.ts'
import { Connection, watchConnections } from './connections.ts'
import { createRetry } from './retry.ts'
import { type OpenSnapshot, createSnapshots } from './snapshots.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { type BlackholeProxy, startBlackholeProxy } from '../../../test/kit/blackhole-proxy.ts'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp({ env: { SVC_DATABASE_REPORT_POOL_SIZE: '2' } })
})
afterAll(() => service.close())
const retry = createRetry(createConnectGate())

const open = () => service.world.database.openSnapshot()
/** Counts the sessions of the service that match the condition. */
const busy = async (condition: string): Promise<number | null> =>
  (
    await service.sql.query(
      `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and ${condition}`,
    )
  ).rowCount

test('a snapshot is of one moment, read only, and streams rows in batches', async () => {
  const snapshot = await open()
  try {
    const before = await snapshot.query<{ n: number }>('select count(*)::int as n from users')
    await service.sql.query("insert into users (id, external_username) values (gen_random_uuid(), 'later')")
    expect(await snapshot.query('select count(*)::int as n from users')).toEqual(before)
    const sizes: number[] = []
    for await (const rows of snapshot.stream('select generate_series(1, $1::int)', [1_050], 500))
      sizes.push(rows.length)
    expect(sizes).toEqual([500, 500, 50])
    await expect(snapshot.query('delete from users')).rejects.toThrow('read-only')
  } finally {
    await snapshot.close()
  }
})

test('one connection is left for other work; the next snapshot is told to come again', async () => {
  const snapshot = await open()
  await expect(open()).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 })
  await snapshot.close()
  await snapshot.close()
  await (await open()).close()
})

test('closing in the middle of a statement frees the connection, and the server ends the statement', async () => {
  for (const begin of ['query', 'stream'] as const) {
    const snapshot = await open()
    const text = 'select 1 from pg_sleep(300)'
    const asked = begin === 'query' ? snapshot.query(text) : snapshot.stream(text).next()
    const failure = asked.then(
      () => null,
      (error: unknown) => error,
    )
    await expect.poll(() => busy("wait_event = 'PgSleep'")).toBe(1)
    await snapshot.close()
    expect(await failure).toBeInstanceOf(Error)
    await expect.poll(() => busy("wait_event = 'PgSleep'"), { timeout: 30_000 }).toBe(0)
    await (await open()).close()
  }
})

test('a connection that the server ends is not held', async () => {
  const snapshot = await open()
  await snapshot.query('select 1')
  await service.sql.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and state = 'idle in transaction'`,
  )
  const opened = async (): Promise<boolean> => {
    try {
      await (await open()).close()
      return true
    } catch {
      return false
    }
  }
  await expect.poll(opened).toBe(true)
  await expect(snapshot.query('select 1')).rejects.toThrow()
})

test('a statement that is not answered in time ends the connection; a reader that takes its time does not', async () => {
  const options = '-c client_connection_check_interval=500'
  const pool = new Pool({ connectionString: service.database.url, max: 1, options, Client: Connection })
  watchConnections(pool)
  const openBriefly = createSnapshots({ pool, retry, readTimeoutMs: 1_000, max: 1 })
  try {
    const silent = await openBriefly()
    await expect(silent.query('select pg_sleep(300)')).rejects.toThrow('terminated')
    await silent.close()
    await expect.poll(() => busy("wait_event = 'PgSleep'"), { timeout: 10_000 }).toBe(0)

    const slow = await openBriefly()
    const rows = slow.stream('select generate_series(1, 4)', [], 2)
    expect((await rows.next()).value).toHaveLength(2)
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect((await rows.next()).value).toHaveLength(2)
    await slow.close()
  } finally {
    await pool.end()
  }
})

describe('a server that hangs', () => {
  let way: BlackholeProxy
  let pool: Pool
  let openBriefly: OpenSnapshot
  beforeEach(async () => {
    const url = new URL(service.database.url)
    way = await startBlackholeProxy({ host: url.hostname, port: Number(url.port || 5432) })
    url.host = `127.0.0.1:${way.port}`
    pool = new Pool({ connectionString: url.href, max: 1, Client: Connection })
    watchConnections(pool)
    openBriefly = createSnapshots({ pool, retry, readTimeoutMs: 1_000, max: 1 })
  })
  afterEach(async () => {
    await pool.end()
    await way.close()
  })

  test('frees the connection while a snapshot is opened', async () => {
    // The connection is opened before the network stops responding.
    await (await openBriefly()).close()
    way.blackhole()
    await expect(openBriefly()).rejects.toThrow('terminated')
    expect(pool.totalCount).toBe(0)
  })

  test('frees the connection while a snapshot is closed', async () => {
    const snapshot = await openBriefly()
    way.blackhole()
    await snapshot.close()
    expect(pool.totalCount).toBe(0)
  })
})
