// Tests that external failures and expensive operations do not block the service: connections that hang or stay
// silent, and large deletions.
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { startBlackholeProxy } from './kit/blackhole-proxy.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { startProcess } from '@manager/harness/process.ts'
import { seedProject, seedUser } from '@manager/harness/seed.ts'

let service: TestApp
let admin: Person
beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
})
afterAll(() => service.close())

const list = (url: string) => postQuery(url, headersOf(admin), '{ projects { id } }')

describe('database connections', () => {
  test('connections that go dark are given up and replaced', async () => {
    const proxy = await startBlackholeProxy({
      host: '127.0.0.1',
      port: Number(new URL(service.database.url).port),
    })
    const url = new URL(service.database.url)
    url.port = String(proxy.port)
    const database = { ...service.database, url: url.href }
    const shaky = await startTestApp({
      database,
      // One connection is reserved for other callers.
      env: { SVC_DATABASE_POOL_SIZE: '4', SVC_DATABASE_STATEMENT_TIMEOUT_MS: '300' },
    })
    await Promise.all([list(shaky.url), list(shaky.url), list(shaky.url)])
    proxy.blackhole()
    const during = await Promise.all([list(shaky.url), list(shaky.url), list(shaky.url)])
    expect(during.map(({ status }) => status)).toEqual([503, 503, 503])
    const after = await Promise.all([list(shaky.url), list(shaky.url), list(shaky.url)])
    expect(after.map(({ status }) => status)).toEqual([200, 200, 200])
    await shaky.close()
    await proxy.close()
  })
})

describe('clients', () => {
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
})
