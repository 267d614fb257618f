// Tests the messages for operators when the database or Redis does not match the configuration: one sentence, without a
// stack trace or password.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { type TestDatabase, createEmptyDatabase, createScratchDatabase } from './kit/databases.ts'
import { runManager, startRefusal } from './kit/commands.ts'
import { runUntilExit, startProcess } from '@manager/harness/process.ts'

let database: TestDatabase
let empty: TestDatabase
let role: string
let owner: Client
const servers: Server[] = []
beforeAll(async () => {
  database = await createScratchDatabase()
  empty = await createEmptyDatabase()
  role = `${database.name}_stranger`
  owner = new Client({ connectionString: database.url })
  await owner.connect()
  await owner.query(`create role ${role} login`)
})
afterAll(async () => {
  for (const server of servers) server.close()
  await owner.query(`drop role ${role}`)
  await owner.end()
  await empty.drop()
  await database.drop()
})

/** Returns the database URL with these changes. */
function urlWith(change: Partial<URL>, { url }: TestDatabase = database): string {
  const changed = Object.assign(new URL(url), change)
  // This password must never be printed.
  changed.password = 'geheim'
  return changed.href
}
const hostOf = (url: string): string => new URL(url).host
const envOf = (url: string) => ({ ...testEnv(database.url), SVC_DATABASE_URL: url })
const refusalOf = (url: string) => startRefusal(envOf(url))
const manager = (url: string, ...args: string[]) => runManager(args, envOf(url))
const sentence = (prefix: string, text: string) => ({ code: 1, stderr: `${prefix}: ${text}\n` })

/** Starts a minimal server that is closed after the tests. */
async function listen(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    onConnection(socket)
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

describe('a database that refuses', () => {
  test('a role that lacks privileges: at the start, in a command, and in a migration', async () => {
    const url = urlWith({ username: role })
    const text = `the database at ${hostOf(url)} refuses the role "${role}": it lacks a privilege; migrate as the owner of the database with SVC_DATABASE_SERVICE_ROLE set to the role of the service: \`npm run manager -- migrate up\` then grants the missing privileges`
    expect(await runUntilExit(envOf(url))).toMatchObject(sentence('start failed', text))
    expect(await manager(url, 'admin', 'list')).toMatchObject(sentence('error', text))
    expect(await manager(url, 'migrate', 'status')).toMatchObject(sentence('error', text))
    const mayNot = `the role "${role}" may not change the schema; migrate as the owner of the database: database.url (SVC_DATABASE_URL) names the role`
    for (const one of [empty, database])
      expect(await manager(urlWith({ username: role }, one), 'migrate', 'up')).toMatchObject(
        sentence('error', mayNot),
      )
  })

  test('a role that does not exist, and a wrong password', async () => {
    const missing = urlWith({ username: 'nobody_at_all' })
    expect(await refusalOf(missing)).toBe(
      `the database at ${hostOf(missing)} refuses the role "nobody_at_all": it does not exist, may not log in, or pg_hba.conf does not allow it from this host; correct database.url (SVC_DATABASE_URL), or create the role`,
    )
    const fields = Buffer.from('SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user "svc"\0\0')
    const length = Buffer.alloc(4)
    length.writeInt32BE(fields.length + 4)
    const port = await listen((socket) =>
      socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, fields]))),
    )
    const text = `the database at 127.0.0.1:${port} refuses the role "svc": the role or its password is wrong; correct database.url (SVC_DATABASE_URL)`
    const url = `postgres://svc:geheim@127.0.0.1:${port}/manager`
    expect(await refusalOf(url)).toBe(text)
    expect(await manager(url, 'migrate', 'up')).toMatchObject(sentence('error', text))
  })

  test('a database that does not exist', async () => {
    const url = urlWith({ pathname: '/no_such_database' })
    const text = `the server at ${hostOf(url)} has no database "no_such_database"; create it, or correct database.url (SVC_DATABASE_URL)`
    expect(await refusalOf(url)).toBe(text)
    expect(await manager(url, 'audit', 'verify')).toMatchObject(sentence('error', text))
  })

  test('a service role that does not exist, before a migration is applied', async () => {
    const env = { ...testEnv(empty.url), SVC_DATABASE_SERVICE_ROLE: 'manager_ap' }
    expect(await runManager(['migrate', 'up'], env)).toMatchObject(
      sentence(
        'error',
        'database.service_role (SVC_DATABASE_SERVICE_ROLE) names the role "manager_ap", which does not exist; create it, or correct the setting',
      ),
    )
    expect((await manager(empty.url, 'migrate', 'status')).stdout).not.toContain('applied')
  })
})

describe('a database that cannot be reached', () => {
  const text = (place: string, why: string): string =>
    `cannot reach the database at ${place} (${why}); check that PostgreSQL is running, that the network allows the connection, and that database.url (SVC_DATABASE_URL) is correct`

  test('nobody listens', async () => {
    // A host name may resolve to two addresses. Their errors arrive as an AggregateError without a message.
    for (const host of ['127.0.0.1', 'localhost']) {
      const port = await freePort()
      const url = `postgres://svc:geheim@${host}:${port}/manager`
      const refused = text(`${host}:${port}`, 'ECONNREFUSED')
      expect(await refusalOf(url)).toBe(refused)
      expect(await manager(url, 'migrate', 'up')).toMatchObject(sentence('error', refused))
    }
    const url = `postgres://svc:geheim@127.0.0.1:${await freePort()}/manager`
    const refused = text(hostOf(url), 'ECONNREFUSED')
    expect(await runUntilExit(envOf(url))).toMatchObject(sentence('start failed', refused))
  })

  test('a name that nobody knows, and a server that says nothing', async () => {
    // The DNS server may be unreachable too.
    expect(['ENOTFOUND', 'EAI_AGAIN', 'timeout'].map((why) => text('db.invalid:5432', why))).toContain(
      await refusalOf('postgres://svc:geheim@db.invalid/manager'),
    )
    const port = await listen(() => undefined)
    const silent = text(`127.0.0.1:${port}`, 'timeout')
    const url = `postgres://svc:geheim@127.0.0.1:${port}/manager`
    expect(await manager(url, 'admin', 'list')).toMatchObject(sentence('error', silent))
    expect(await manager(url, 'migrate', 'check')).toMatchObject(sentence('error', silent))
  })
})

test('a Redis that is away at the start is one warning with its address, however often it is tried', async () => {
  let tries = 0
  const port = await listen((socket) => {
    tries++
    socket.destroy()
  })
  const service = await startProcess(database.url, { SVC_REDIS_URL: `redis://:geheim@127.0.0.1:${port}` })
  await expect.poll(() => tries).toBeGreaterThan(3)
  service.child.kill('SIGKILL')
  await service.exit
  expect(service.lines.join('\n')).not.toContain('geheim')
  const lines = service.lines.filter((line) => line.includes('redis'))
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({
      level: 'warn',
      redis: `127.0.0.1:${port}`,
      reason: expect.any(String) as unknown,
      msg: 'redis is unavailable; throttles count per process',
    }),
  ])
})

test('a benchmark without wrk says so before it starts anything', async () => {
  const bench = new URL('../bench/run.ts', import.meta.url).pathname
  const result = await new Promise((resolve) =>
    execFile(process.execPath, [bench], { env: { PATH: '/nonexistent' } }, (error, stdout, stderr) =>
      resolve({ code: error?.code, stdout, stderr }),
    ),
  )
  expect(result).toEqual({
    code: 1,
    stdout: '',
    stderr: 'this benchmark needs wrk, which is not installed; run `apt-get install wrk`\n',
  })
})
