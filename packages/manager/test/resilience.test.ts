// Tests that external failures do not break the service: database connections that fail or hang, clients that
// disconnect, and connections that stay silent.
import { connect } from 'node:net'
import { Pool } from 'pg'
import { describe, expect, test } from 'vitest'
import { headersOf } from '@manager/harness/callers.ts'
import { basicValue, createMachine, validate } from '@manager/harness/credentials.ts'
import { startBlackholeProxy } from './kit/blackhole-proxy.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { startProcess } from '@manager/harness/process.ts'
import { useProject } from './kit/project.ts'
import { seedUser } from '@manager/harness/seed.ts'

const { service, admin, project } = useProject()

const rename = (url: string) =>
  postQuery(
    url,
    headersOf(admin),
    `mutation { updateProject(id: "${project.id}", input: {name: "x"}) { id } }`,
  )
const list = (url: string) => postQuery(url, headersOf(admin), '{ projects { id } }')

/**
 * Makes a call that must wait for a lock of this test, and runs `work` while it waits. Then releases the lock and
 * returns the status of the call. Repeats the call if it did not have to wait.
 */
async function statusWhileBlocked(
  lock: string,
  call: () => Promise<{ status: number }>,
  work: (pid: number) => Promise<void>,
): Promise<number> {
  const sql = new Pool({ connectionString: service.database.url, max: 2 })
  const lockClient = await sql.connect()
  try {
    for (let attempt = 1; attempt <= 5; attempt++) {
      await lockClient.query(`begin; ${lock}`)
      const state = { isOver: false, hasWaited: false }
      const answer = call().finally(() => (state.isOver = true))
      while (!state.isOver && !state.hasWaited) {
        // Filter by name: the readiness probe or an autovacuum may also wait for the lock.
        const { rows } = await sql.query<{ pid: number }>(
          `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
             and application_name = 'manager'`,
        )
        if (rows[0] === undefined) continue
        state.hasWaited = true
        await work(rows[0].pid)
      }
      await lockClient.query('rollback')
      const { status } = await answer
      if (state.hasWaited) return status
    }
    throw new Error('the call never waited for the lock')
  } finally {
    lockClient.release(true)
    await sql.end()
  }
}

describe('database connections', () => {
  test('a connection that is cut in the middle of a transaction or a query costs no request', async () => {
    const proxy = await startBlackholeProxy({
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
      await statusWhileBlocked(row, () => rename(replica.url), terminate),
      await statusWhileBlocked('lock table projects', () => list(replica.url), terminate),
      await statusWhileBlocked(
        'lock table projects',
        () => list(replica.url),
        async () => proxy.reset(),
      ),
    ]
    expect(statuses).toEqual([200, 200, 200])
    expect((await list(replica.url)).status).toBe(200)
    replica.child.kill('SIGTERM')
    expect(await replica.exit).toBe(0)
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
    const added = () => service.logLines.slice(before).find((line) => line['msg'] === 'request')
    await expect.poll(added).toMatchObject({ route: '/query', aborted: true })
  })
})

describe('large and short', () => {
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
    // Runs twice, because known callers are looked up with a different statement from new callers.
    for (const _ of [1, 2]) expect(await statuses()).toEqual(Array.from({ length: 12 }, () => 200))
    await service.sql.query('alter table machine_users alter column name type varchar(100)')
    expect(await statuses()).toEqual(Array.from({ length: 12 }, () => 200))
  })
})
