// Tests a database that rejects writes, refuses connections, or fails over to a different server. Callers get
// 503 with Retry-After, readiness reports the failure, and the service recovers without a restart.
import { mkdtempSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrateUp } from '../src/platform/postgres/migrate.ts'
import { createHealthServer } from '../src/platform/http/health-server.ts'
import { type Postgres, freePort, startPostgres } from '@manager/harness/engines/postgres.ts'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { type BlackholeProxy, startBlackholeProxy } from './kit/blackhole-proxy.ts'
import { adminUrl } from '@manager/harness/run-engines.ts'
import { type Gateway, startGateway } from './kit/gateway.ts'

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function listen(service: TestApp): Promise<{ server: Server; url: string }> {
  const server = createHealthServer(service.app.readiness, service.world.metrics)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

type Verdict = { status: number; retryAfter: string | null; database: string }
async function readiness(url: string, headers: Record<string, string> = {}): Promise<Verdict> {
  const response = await fetch(url, { headers })
  const { checks } = (await response.json()) as { checks: { database: string } }
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    database: checks.database,
  }
}
const trusted = { 'x-proxy-auth': proxySecret }
const [ready, readOnly] = [
  { status: 200, retryAfter: null, database: 'ok' },
  { status: 503, retryAfter: '1', database: 'read-only' },
]

describe('a database that is set read-only', () => {
  let gateway: Gateway
  let health: { server: Server; url: string }
  beforeAll(async () => {
    gateway = await startGateway()
    health = await listen(gateway.service)
  })
  afterAll(async () => {
    health.server.close()
    health.server.closeAllConnections()
    await gateway.close()
  })

  const setReadOnly = (isOn: boolean): Promise<unknown> =>
    withClient(adminUrl(), async (admin) => {
      const { name } = gateway.service.database
      await admin.query(`alter database ${name} set default_transaction_read_only = ${isOn ? 'on' : 'off'}`)
      if (isOn)
        await admin.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name like 'manager%'",
          [name],
        )
    })

  test('answers 503 with Retry-After everywhere, and heals when it is lifted', async () => {
    const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/` })
    const rename = () =>
      gateway.service.query(
        gateway.admin,
        `mutation { updateProject(id: "${gateway.project.id}", input: {name: "n"}) { id } }`,
      )
    expect((await gateway.call(path)).status).toBe(200)
    expect((await rename()).error).toBeNull()
    expect(await readiness(`${health.url}/readyz`)).toEqual(ready)

    await setReadOnly(true)
    await expect.poll(() => readiness(`${health.url}/readyz`), { timeout: 5_000 }).toEqual(readOnly)
    expect(await readiness(`${gateway.service.url}/health`, trusted)).toEqual(readOnly)
    const anonymous = await fetch(`${gateway.service.url}/health`)
    expect([anonymous.status, await anonymous.text()]).toEqual([503, '{"status":"unavailable"}'])
    gateway.upstream.received.length = 0
    for (let round = 0; round < 3; round++) {
      const [mutation, call] = [await rename(), await gateway.call(path)]
      expect([mutation.status, mutation.headers.get('retry-after')]).toEqual([503, '1'])
      expect([call.status, call.headers.get('retry-after')]).toEqual([503, '1'])
    }
    expect(gateway.upstream.received).toEqual([])

    await setReadOnly(false)
    await expect.poll(() => readiness(`${health.url}/readyz`), { timeout: 5_000 }).toEqual(ready)
    await expect.poll(async () => (await rename()).status, { timeout: 5_000 }).toBe(200)
    await expect.poll(async () => (await gateway.call(path)).status, { timeout: 5_000 }).toBe(200)
  }, 40_000)
})

describe('a database that gives way to another', () => {
  const dirs = [1, 2].map(() => mkdtempSync(`${tmpdir()}/manager-failover-`))
  const admin: Person = { id: '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de', email: 'a@example.com', name: 'admin' }
  let first: Postgres
  let second: Postgres
  let proxy: BlackholeProxy
  let service: TestApp
  beforeAll(async () => {
    first = startPostgres(dirs[0] as string, await freePort())
    second = startPostgres(dirs[1] as string, await freePort())
    for (const server of [first, second]) {
      await migrateUp(server.url, () => undefined)
      await withClient(server.url, (client) =>
        client.query(
          "insert into users (id, external_name, external_username, external_email, role) values ($1, 'admin', 'admin', 'a@example.com', 'administrator')",
          [admin.id],
        ),
      )
    }
    proxy = await startBlackholeProxy({ host: '127.0.0.1', port: first.port })
    const url = new URL(first.url)
    url.port = String(proxy.port)
    const database = { url: url.href, name: 'postgres', drop: () => Promise.resolve() }
    service = await startTestApp({ database })
  })
  afterAll(async () => {
    await service.close()
    await proxy.close()
    for (const server of [first, second]) server.stop('immediate')
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true })
  })

  const create = (slug: string) =>
    service.query(admin, `mutation { createProject(input: {name: "x", slug: "${slug}"}) { id } }`)
  const slugs = async (): Promise<string[]> =>
    ((await service.query(admin, '{ projects { slug } }')).data.projects as { slug: string }[]).map(
      ({ slug }) => slug,
    )
  const lookUp = async (): Promise<number> =>
    (
      await fetch(`${service.url}/api/machine/check`, {
        headers: { authorization: `Bearer ${'x'.repeat(43)}` },
      })
    ).status
  const connectionsTo = (server: Postgres, name = 'manager%'): Promise<number> =>
    withClient(server.url, async (client) => {
      const { rowCount } = await client.query(
        'select 1 from pg_stat_activity where application_name like $1',
        [name],
      )
      return rowCount ?? 0
    })

  const setReadOnly = (server: Postgres, isOn: boolean): Promise<unknown> =>
    withClient(server.url, async (client) => {
      await client.query('set default_transaction_read_only = off')
      await client.query(`alter system set default_transaction_read_only = ${isOn ? 'on' : 'off'}`)
      await client.query('select pg_reload_conf()')
    })

  test('is left for the new one, by connections that only read too, while the former goes on answering', async () => {
    expect((await create('in-first')).error).toBeNull()
    await Promise.all([lookUp(), slugs(), slugs(), slugs()])
    expect(await connectionsTo(first)).toBeGreaterThan(2)
    await setReadOnly(first, true)
    await expect.poll(async () => (await create('lost')).status).toBe(503)
    proxy.retarget(second.port)
    // During this time, no request checks readiness or writes data.
    await expect
      .poll(async () => [await lookUp(), await slugs(), await connectionsTo(first)], { timeout: 10_000 })
      .toEqual([200, [], 0])
    expect((await create('in-second')).error).toBeNull()
    expect(await slugs()).toEqual(['in-second'])
  }, 40_000)

  test('that is starting up is not besieged, and callers are told to come back', async () => {
    const attempts = { count: 0 }
    const starting = createServer((socket) => {
      attempts.count++
      socket.on('error', () => undefined)
      socket.once('data', () => socket.end(fatal('57P03', 'the database system is starting up')))
    })
    await new Promise<void>((resolve) => starting.listen(0, '127.0.0.1', resolve))
    proxy.retarget((starting.address() as AddressInfo).port)
    proxy.reset()
    const answers: (string | null)[] = []
    for (let round = 0; round < 20; round++) {
      const calls = await Promise.all(Array.from({ length: 20 }, () => create(`s${round}`)))
      answers.push(...calls.map(({ status, headers }) => `${status} ${headers.get('retry-after')}`))
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect(new Set(answers)).toEqual(new Set(['503 1']))
    process.stdout.write(`failover calls=${answers.length} attempts=${attempts.count}\n`)
    expect(attempts.count).toBeLessThan(100)
    proxy.retarget(second.port)
    await expect.poll(async () => (await create('after')).status, { timeout: 10_000 }).toBe(200)
    starting.close()
  }, 40_000)

  test('that ends connections without a word costs 503, and nothing afterwards', async () => {
    const closing = createServer((socket) => socket.on('error', () => undefined).destroy())
    await new Promise<void>((resolve) => closing.listen(0, '127.0.0.1', resolve))
    proxy.retarget((closing.address() as AddressInfo).port)
    proxy.reset()
    for (let round = 0; round < 5; round++) {
      const { status, headers } = await create('never')
      expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    }
    closing.close()
    // The closed port now refuses connections. Wait until the service has noticed.
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect((await create('never')).status).toBe(503)
    proxy.retarget(second.port)
    await expect.poll(async () => (await create('again')).status, { timeout: 10_000 }).toBe(200)
  }, 40_000)

  test('is left also when nobody writes and nobody asks for readiness', async () => {
    await setReadOnly(first, false)
    // Wait until the effects of the previous test are over: the readiness probe is connected and has succeeded.
    await expect.poll(() => connectionsTo(second, 'manager-readiness'), { timeout: 15_000 }).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await Promise.all([lookUp(), slugs(), slugs()])
    await setReadOnly(second, true)
    proxy.retarget(first.port)
    await expect
      .poll(async () => [await lookUp(), await slugs(), await connectionsTo(second)], { timeout: 25_000 })
      .toEqual([200, ['in-first'], 0])
  }, 40_000)
})

/** Encodes a fatal PostgreSQL error message. */
function fatal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.from('E....')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}
