// What breaks around the service does not break it: database connections that die or go dark, clients that go away,
// connections that never say anything.
import { connect } from 'node:net'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApp, headersOf, startTestApp } from './kit/app.ts'
import { basicValue, createMachine, validate } from './kit/credentials.ts'
import { startDarkProxy } from './kit/dark-proxy.ts'
import { postQuery } from './kit/graphql.ts'
import { startProcess } from './kit/process.ts'
import { type SeededProject, seedProject, seedUser } from './kit/seed.ts'

let service: TestApp
let admin: Person
let project: SeededProject
beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
  project = await seedProject(service.sql, 'resilient')
})
afterAll(() => service.close())

const rename = (url: string) =>
  postQuery(
    url,
    headersOf(admin),
    `mutation { updateProject(id: "${project.id}", input: {name: "x"}) { id } }`,
  )
const list = (url: string) => postQuery(url, headersOf(admin), '{ projects { id } }')

/**
 * Makes a call that has to wait for our lock, does the work while it waits, and answers the call's status. A call that
 * ends without having waited proves nothing and is made again.
 */
async function statusOfWaiting(
  lock: string,
  call: () => Promise<{ status: number }>,
  work: (pid: number) => Promise<void>,
): Promise<number> {
  const sql = new Pool({ connectionString: service.database.url, max: 2 })
  const holder = await sql.connect()
  await holder.query(`begin; ${lock}`)
  try {
    for (let attempt = 1; attempt <= 5; attempt++) {
      const state = { isOver: false, hasWaited: false }
      const answer = call().finally(() => (state.isOver = true))
      while (!state.isOver && !state.hasWaited) {
        // By name, so that neither the readiness probe nor an autovacuum that meets the lock is taken for the call.
        const { rows } = await sql.query<{ pid: number }>(
          `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
             and application_name = 'manager'`,
        )
        if (rows[0] === undefined) continue
        state.hasWaited = true
        await work(rows[0].pid)
      }
      const { status } = await answer
      if (state.hasWaited) return status
    }
    throw new Error('the call never waited for the lock')
  } finally {
    await holder.query('rollback')
    holder.release()
    await sql.end()
  }
}

describe('database connections', () => {
  test('a connection that is cut in the middle of a transaction or a query costs one request, not the process', async () => {
    const proxy = await startDarkProxy({
      host: '127.0.0.1',
      port: Number(new URL(service.database.url).port),
    })
    const url = new URL(service.database.url)
    url.port = String(proxy.port)
    const replica = await startProcess(url.href, { SVC_SHUTDOWN_DRAIN_DELAY_MS: '0' })
    const terminate = async (pid: number): Promise<void> =>
      void (await service.sql.query('select pg_terminate_backend($1)', [pid]))
    const row = `select 1 from projects where id = '${project.id}' for update`
    const statuses = [
      await statusOfWaiting(row, () => rename(replica.url), terminate),
      await statusOfWaiting('lock table projects', () => list(replica.url), terminate),
      await statusOfWaiting(
        'lock table projects',
        () => list(replica.url),
        async () => proxy.reset(),
      ),
    ]
    expect(statuses).toEqual([503, 503, 503])
    expect((await list(replica.url)).status).toBe(200)
    replica.child.kill('SIGTERM')
    expect(await replica.exit).toBe(0)
    await proxy.close()
  }, 60_000)

  test('connections that go dark are given up and replaced', async () => {
    const proxy = await startDarkProxy({
      host: '127.0.0.1',
      port: Number(new URL(service.database.url).port),
    })
    const url = new URL(service.database.url)
    url.port = String(proxy.port)
    const database = { ...service.database, url: url.href }
    const shaky = await startTestApp({
      database,
      env: { SVC_DATABASE_POOL_SIZE: '3', SVC_DATABASE_STATEMENT_TIMEOUT_MS: '300' },
    })
    await Promise.all([list(shaky.url), list(shaky.url), list(shaky.url)])
    proxy.goDark()
    const during = await Promise.all([list(shaky.url), list(shaky.url), list(shaky.url)])
    expect(during.map(({ status }) => status)).toEqual([503, 503, 503])
    const after = await Promise.all([list(shaky.url), list(shaky.url), list(shaky.url)])
    expect(after.map(({ status }) => status)).toEqual([200, 200, 200])
    await shaky.close()
    await proxy.close()
  })
})

describe('clients', () => {
  test('a connection that sends garbage is closed, also when the client keeps its side open', async () => {
    const { port } = new URL(service.url)
    const sockets = Array.from({ length: 20 }, () => {
      const socket = connect({ host: '127.0.0.1', port: Number(port), allowHalfOpen: true })
      socket.on('error', () => undefined)
      socket.resume()
      return socket
    })
    for (const socket of sockets) socket.write('NOT HTTP AT ALL\r\n\r\n')
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('end', resolve))))
    const open = await new Promise<number>((resolve) =>
      service.app.server.server.getConnections((_, count) => resolve(count)),
    )
    expect(open).toBeLessThan(5)
    for (const socket of sockets) socket.destroy()
  })

  test('a client that goes away is counted and logged as aborted', async () => {
    const { port } = new URL(service.url)
    const before = service.logLines.length
    const socket = connect(Number(port), '127.0.0.1')
    const lines = Object.entries(headersOf(admin)).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(
      `POST /query HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n${lines.join('')}\r\n{`,
    )
    const inflight = async (): Promise<number> =>
      (await service.world.metrics.registry.getSingleMetric('svc_http_inflight')?.get())?.values[0]?.value ??
      0
    while ((await inflight()) === 0) await new Promise((resolve) => setImmediate(resolve))
    socket.destroy()
    while ((await inflight()) > 0) await new Promise((resolve) => setImmediate(resolve))
    const added = service.logLines.slice(before)
    expect(added.find((line) => line['msg'] === 'request')).toMatchObject({ route: '/query', aborted: true })
  })

  test('a connection that never says anything does not hold up the end', async () => {
    const replica = await startProcess(service.database.url, {
      SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
      SVC_SHUTDOWN_TIMEOUT_MS: '10000',
    })
    const { port } = new URL(replica.url)
    const silent = connect(Number(port), '127.0.0.1')
    const partial = connect(Number(port), '127.0.0.1')
    for (const socket of [silent, partial]) socket.on('error', () => undefined)
    partial.write('POST /query HTTP/1.1\r\nhost: x\r\n')
    await new Promise((resolve) => partial.once('connect', resolve))
    await list(replica.url)
    const start = performance.now()
    replica.child.kill('SIGTERM')
    expect(await replica.exit).toBe(0)
    expect(performance.now() - start).toBeLessThan(5_000)
  })
})

describe('large and short', () => {
  test('a project with thousands of tenants is deleted in one go', async () => {
    const large = await seedProject(service.sql, 'large')
    await service.sql.query(
      "insert into tenants (id, project_id, name, slug) select gen_random_uuid(), $1, 't', 'many-' || i from generate_series(1, 11000) i",
      [large.id],
    )
    const answer = await service.query(admin, `mutation { deleteProject(id: "${large.id}") }`)
    expect(answer.error).toBeNull()
    const { rowCount } = await service.sql.query('select 1 from tenants where project_id = $1 limit 1', [
      large.id,
    ])
    expect(rowCount).toBe(0)
  }, 60_000)

  test('a search of one or two characters matches beginnings, by an index', async () => {
    await seedUser(service.sql, 'Qzebra')
    await seedUser(service.sql, 'a-Qz-inside')
    const search = async (name: string): Promise<string[]> => {
      const { data } = await service.query(
        admin,
        'query($n: String!) { userProviderSearch(name: $n) { displayName } }',
        { n: name },
      )
      return (data.userProviderSearch as { displayName: string }[]).map(({ displayName }) => displayName)
    }
    expect(await search('qz')).toEqual(['Qzebra'])
    expect((await search('qz-')).toSorted()).toEqual(['a-Qz-inside'])
    expect(await search('%')).toEqual([])
  })
})

describe('a migration under way', () => {
  test('that changes a column of a lookup costs no request', async () => {
    const login = { username: 'backend', password: 'a password' }
    await createMachine(service, admin, project.environmentId, login)
    const statuses = async (): Promise<number[]> => {
      const calls = Array.from({ length: 12 }, (_, i) =>
        validate(
          service.url,
          basicValue(login.username, login.password),
          project.applicationId,
          `203.0.113.${i}`,
        ),
      )
      return (await Promise.all(calls)).map(({ status }) => status)
    }
    // Twice: what is known about a caller is looked up by another statement than what is new.
    for (const _ of [1, 2]) expect(await statuses()).toEqual(Array.from({ length: 12 }, () => 200))
    await service.sql.query('alter table machine_users alter column name type varchar(100)')
    expect(await statuses()).toEqual(Array.from({ length: 12 }, () => 200))
  })
})
