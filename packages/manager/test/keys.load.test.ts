// Tests key rotation while a service writes, and after a rotation that was killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { type TestDatabase, createScratchDatabase } from './kit/databases.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { startProcess } from '@manager/harness/process.ts'
import { ring, textOf } from '@manager/harness/sealed-endpoints.ts'
import { sealedEndpoints, secretsOf } from './kit/sealed-endpoints.ts'
import { type SeededProject, seedProject, seedUser } from '@manager/harness/seed.ts'

const endpoints = 1_200

let database: TestDatabase
let sql: Pool
let admin: Person
let project: SeededProject
/** Child processes of the current test. They are killed after the test. */
const children: ChildProcess[] = []
beforeEach(async () => {
  database = await createScratchDatabase()
  sql = new Pool({ connectionString: database.url, max: 3 })
  admin = await seedUser(sql, 'admin', 'administrator')
  project = await seedProject(sql, 'keys')
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await sql.end()
  await database.drop()
})

const { manager, seedSealed, countedByKey, openAll } = sealedEndpoints(() => ({ database, sql, project }))

describe('keys rotate', () => {
  test('while a service writes 50 secrets a second, every secret opens afterwards, and all are on the new key', async () => {
    const ids = await seedSealed(endpoints, secretsOf(2026))
    const service = await startProcess(database.url, {
      SVC_ENCRYPTION_KEYS: ring(2027, 2026),
      SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
    })
    children.push(service.child)
    const [written, failures, pending] = [new Map<string, string>(), [] as string[], [] as Promise<void>[]]
    let [sent, answered] = [0, 0]
    const write = async (): Promise<void> => {
      // Write each row once and in random order, so that its last value is known and rotation can collide
      // with a write anywhere.
      const id = ids[sent++ % ids.length] as string
      const [password, token] = [`new password ${sent}`, `new token ${sent}`]
      const { error } = await postQuery(
        service.url,
        headersOf(admin),
        `mutation($id: ID!, $p: String!, $t: String!) { updateEndpoint(id: $id, input: {authPassword: $p, authToken: $t}) { id } }`,
        { id, p: password, t: token },
      )
      // On a busy machine the service sheds requests. The row then keeps its value.
      if (error?.endsWith('try again') === true) return
      if (error !== null) return void failures.push(error)
      answered++
      written.set(textOf(id, 'auth_password'), password)
      written.set(textOf(id, 'auth_token'), token)
    }
    let inFlight = 0
    const writing = setInterval(() => {
      if (inFlight >= 10) return
      inFlight++
      pending.push(write().finally(() => inFlight--))
    }, 20)
    onTestFinished(() => clearInterval(writing))
    const untilAnswered = (count: number) =>
      vi.waitFor(() => expect(answered).toBeGreaterThanOrEqual(count), { timeout: 50_000, interval: 20 })
    await untilAnswered(25)
    const before = answered
    const start = performance.now()
    const result = await manager(ring(2027, 2026), 'keys', 'rotate')
    const [during, ms] = [answered - before, performance.now() - start]
    await untilAnswered(before + during + 25)
    clearInterval(writing)
    await Promise.all(pending)
    service.child.kill('SIGTERM')
    expect(await service.exit).toBe(0)
    // A process with only the new key can open all secrets.
    const undone = await openAll(secretsOf(2027), written)
    const [, rewrapped, seen] =
      /^Rewrapped (\d+) of (\d+) secrets with key 2027; all other secrets already used this key\.\n$/.exec(
        result.stdout,
      ) ?? []
    process.stdout.write(
      `keys rotate secrets=${seen} rewrapped=${rewrapped} ms=${Math.round(ms)} writes=${answered} during=${during} decrypt_fail=${undone.length}\n`,
    )
    expect([result.code, failures, undone]).toEqual([0, [], []])
    expect(await countedByKey()).toEqual({ 2027: 2 * endpoints })
    expect(Number(seen)).toBe(2 * endpoints)
    expect(Number(rewrapped)).toBeLessThanOrEqual(2 * endpoints - 2 * before)
    expect(Number(rewrapped)).toBeGreaterThan(0)
    expect(during).toBeGreaterThan(0)
    expect(await manager(ring(2027), 'keys', 'status')).toMatchObject({
      code: 0,
      stdout: `2027 active ${2 * endpoints} secrets\nmaster decrypts 0 secrets\n`,
    })
  }, 180_000)

  test('an interrupted one keeps what it has done, and the next one does the rest', async () => {
    const ids = (await seedSealed(endpoints, secretsOf(2026))).toSorted()
    // Locks the last row, so that the rotation blocks before it ends.
    const holder = await sql.connect()
    await holder.query('begin')
    await holder.query('select 1 from endpoints where id = $1 for update', [ids.at(-1)])
    const child = spawn(
      process.execPath,
      [new URL('../src/commands/manager.ts', import.meta.url).pathname, 'keys', 'rotate'],
      { env: { ...process.env, ...testEnv(database.url), SVC_ENCRYPTION_KEYS: ring(2027, 2026) } },
    )
    children.push(child)
    const ended = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
    await vi.waitFor(
      async () => {
        const { rowCount } = await sql.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
        expect(rowCount).not.toBe(0)
      },
      { timeout: 20_000, interval: 20 },
    )
    child.kill('SIGKILL')
    expect(await ended).toBe('SIGKILL')
    await holder.query('rollback')
    holder.release()
    const between = await countedByKey()
    expect(between['2027']).toBeGreaterThan(0)
    expect(between['2026']).toBeGreaterThan(0)
    // Halfway through, a process with both keys can open all secrets, and status reports the progress.
    expect(await openAll(secretsOf(2027, 2026))).toEqual([])
    expect((await manager(ring(2027, 2026), 'keys', 'status')).stdout).toBe(
      `2027 active ${between['2027']} secrets\n2026 decrypts ${between['2026']} secrets\nmaster decrypts 0 secrets\n`,
    )
    const { code, stdout } = await manager(ring(2027, 2026), 'keys', 'rotate')
    expect([code, stdout]).toEqual([
      0,
      `Rewrapped ${between['2026']} of ${2 * endpoints} secrets with key 2027; all other secrets already used this key.\n`,
    ])
    expect(await openAll(secretsOf(2027))).toEqual([])
  }, 60_000)
})
