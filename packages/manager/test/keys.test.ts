// Changing the key of stored secrets: `manager keys status` and `manager keys rotate`, beside a service that goes on.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { loadConfig, printableConfig } from '../src/config.ts'
import { encryptionRing } from '../src/platform/keys.ts'
import { type Secrets, createSecrets, sealedWith } from '../src/platform/secrets.ts'
import { type Person, headersOf, masterKey, testEnv } from './kit/app.ts'
import { type TestDatabase, createScratchDatabase } from './kit/databases.ts'
import { postQuery } from './kit/graphql.ts'
import { runManager, startProcess } from './kit/process.ts'
import { type SeededProject, seedProject, seedUser } from './kit/seed.ts'

type Row = { id: string; auth_password: Buffer | null; auth_token: Buffer | null }

const endpoints = 1_200
const columns = ['auth_password', 'auth_token'] as const
const keys = {
  2025: Buffer.alloc(32, 5).toString('base64'),
  2026: Buffer.alloc(32, 6).toString('base64'),
  2027: Buffer.alloc(32, 7).toString('base64'),
}
const ring = (...ids: (keyof typeof keys)[]): string => ids.map((id) => `${id}:${keys[id]}`).join(',')
/** Seals and opens as a process with these keys does. */
const secretsOf = (...ids: (keyof typeof keys)[]): Secrets => {
  const configured = new Map(ids.map((id) => [String(id), Buffer.from(keys[id], 'base64')]))
  return createSecrets(encryptionRing(Buffer.from(masterKey, 'base64'), configured))
}

let database: TestDatabase
let sql: Pool
let admin: Person
let project: SeededProject
/** Processes of a test; what it leaves running is ended. */
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

const manager = (encryptionKeys: string, ...args: string[]) =>
  runManager(args, { ...testEnv(database.url), SVC_ENCRYPTION_KEYS: encryptionKeys })
const textOf = (id: string, column: string): string => `${column} of ${id}`

/** Endpoints with two secrets each, sealed as a process with the old key does; returns their ids. */
async function seedSealed(count: number, secrets: Secrets): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID())
  const sealed = columns.map((column) =>
    ids.map((id) => secrets.seal(textOf(id, column), { table: 'endpoints', column, id })),
  )
  await sql.query(
    `insert into endpoints (id, project_id, application_id, name, description, enabled, consume_url, auth_type,
       auth_username, transformation_template, log_level, auth_password, auth_token, updated_at)
     select id, $1, $2, 'sealed', '', true, '/' || id, 'Basic', '', '', 'BASIC', password, token, '2020-01-01T00:00:00Z'
     from unnest($3::uuid[], $4::bytea[], $5::bytea[]) as wanted (id, password, token)`,
    [project.id, project.applicationId, ids, ...sealed],
  )
  return ids
}
async function stored(): Promise<Row[]> {
  const { rows } = await sql.query<Row>('select id, auth_password, auth_token from endpoints order by id')
  return rows
}
/** How many secrets each key has sealed, counted here. */
async function countedByKey(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const row of await stored())
    for (const column of columns) {
      const sealed = row[column]
      if (sealed === null) continue
      counts[sealedWith(sealed)] = (counts[sealedWith(sealed)] ?? 0) + 1
    }
  return counts
}
/** Opens everything that is stored; says what does not open or says something else than it should. */
async function openAll(secrets: Secrets, written = new Map<string, string>()): Promise<string[]> {
  const failures: string[] = []
  for (const row of await stored())
    for (const column of columns)
      try {
        const text = secrets.open(row[column] as Buffer, { table: 'endpoints', column, id: row.id })
        const wanted = written.get(textOf(row.id, column)) ?? textOf(row.id, column)
        if (text !== wanted) failures.push(`${column} of ${row.id} is ${text}, not ${wanted}`)
      } catch (error) {
        failures.push(`${column} of ${row.id}: ${(error as Error).message}`)
      }
  return failures
}

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
      // Each row once and in no order, so that the last text of each is known and the walk meets them anywhere.
      const id = ids[sent++ % ids.length] as string
      const [password, token] = [`new password ${sent}`, `new token ${sent}`]
      const { error } = await postQuery(
        service.url,
        headersOf(admin),
        `mutation($id: ID!, $p: String!, $t: String!) { updateEndpoint(id: $id, input: {authPassword: $p, authToken: $t}) { id } }`,
        { id, p: password, t: token },
      )
      if (error !== null) return void failures.push(error)
      answered++
      written.set(textOf(id, 'auth_password'), password)
      written.set(textOf(id, 'auth_token'), token)
    }
    const writing = setInterval(() => pending.push(write()), 20)
    onTestFinished(() => clearInterval(writing))
    const untilAnswered = (count: number) =>
      vi.waitFor(() => expect(answered).toBeGreaterThanOrEqual(count), { timeout: 20_000, interval: 20 })
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
    // Those who have the new key alone open everything.
    const undone = await openAll(secretsOf(2027), written)
    const [, rewrapped, seen] =
      /^(\d+) of (\d+) secrets are now sealed with 2027; the others were before\n$/.exec(result.stdout) ?? []
    process.stdout.write(
      `keys rotate secrets=${seen} rewrapped=${rewrapped} ms=${Math.round(ms)} writes=${answered} during=${during} decrypt_fail=${undone.length}\n`,
    )
    expect([result.code, failures, undone]).toEqual([0, [], []])
    expect(await countedByKey()).toEqual({ 2027: 2 * endpoints })
    expect(Number(seen)).toBe(2 * endpoints)
    expect(Number(rewrapped)).toBeLessThanOrEqual(2 * endpoints - 2 * before)
    expect(Number(rewrapped)).toBeGreaterThan(0)
    expect(during).toBeGreaterThan(5)
    expect(await manager(ring(2027), 'keys', 'status')).toMatchObject({
      code: 0,
      stdout: `2027 active ${2 * endpoints} secrets\nmaster opens 0 secrets\n`,
    })
  }, 60_000)

  test('an interrupted one keeps what it has done, and the next one does the rest', async () => {
    const ids = (await seedSealed(endpoints, secretsOf(2026))).toSorted()
    // Somebody holds the last row, so that the walk stands before its end.
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
    // In between, whoever has both keys opens everything, and status tells how far it is.
    expect(await openAll(secretsOf(2027, 2026))).toEqual([])
    expect((await manager(ring(2027, 2026), 'keys', 'status')).stdout).toBe(
      `2027 active ${between['2027']} secrets\n2026 opens ${between['2026']} secrets\nmaster opens 0 secrets\n`,
    )
    const { code, stdout } = await manager(ring(2027, 2026), 'keys', 'rotate')
    expect([code, stdout]).toEqual([
      0,
      `${between['2026']} of ${2 * endpoints} secrets are now sealed with 2027; the others were before\n`,
    ])
    expect(await openAll(secretsOf(2027))).toEqual([])
  }, 60_000)

  test('changes nothing but the wrapping: neither the rest of a row nor a row without secrets; once more it does nothing', async () => {
    await seedSealed(20, secretsOf(2026))
    await sql.query(
      `update endpoints set auth_password = null where id in (select id from endpoints order by id limit 5);
       update endpoints set auth_token = null where id in (select id from endpoints order by id desc limit 5)`,
    )
    const rest = async () =>
      (
        await sql.query(
          "select to_jsonb(endpoints) - 'auth_password' - 'auth_token' as row, auth_password is null as p, auth_token is null as t from endpoints order by id",
        )
      ).rows
    const before = await rest()
    const said = (done: number) => `${done} of 30 secrets are now sealed with 2027; the others were before\n`
    expect((await manager(ring(2027, 2026), 'keys', 'rotate')).stdout).toBe(said(30))
    const wrapped = await stored()
    expect(await rest()).toEqual(before)
    expect(await countedByKey()).toEqual({ 2027: 30 })
    expect((await manager(ring(2027, 2026), 'keys', 'rotate')).stdout).toBe(said(0))
    expect(await stored()).toEqual(wrapped)
  })

  test('two at once both end well', async () => {
    await seedSealed(600, secretsOf(2026))
    const results = await Promise.all([1, 2].map(() => manager(ring(2027, 2026), 'keys', 'rotate')))
    expect(results.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ])
    expect(await openAll(secretsOf(2027))).toEqual([])
  })

  test('brings secrets of the master key, and of several older keys, to the first one', async () => {
    await seedSealed(3, secretsOf())
    await seedSealed(4, secretsOf(2025))
    await seedSealed(5, secretsOf(2026, 2025))
    expect(await countedByKey()).toEqual({ master: 6, 2025: 8, 2026: 10 })
    const { stdout } = await manager(ring(2027, 2026, 2025), 'keys', 'status')
    expect(stdout).toBe(
      '2027 active 0 secrets\n2026 opens 10 secrets\n2025 opens 8 secrets\nmaster opens 6 secrets\n',
    )
    expect((await manager(ring(2027, 2026, 2025), 'keys', 'rotate')).code).toBe(0)
    expect(await countedByKey()).toEqual({ 2027: 24 })
    expect(await openAll(secretsOf(2027))).toEqual([])
  })
})

describe('a missing key', () => {
  test('makes status exit 1 and say MISSING, and stops rotate, which leaves what it cannot open', async () => {
    await seedSealed(3, secretsOf(2026))
    const before = await stored()
    expect(await manager(ring(2027), 'keys', 'status')).toMatchObject({
      code: 1,
      stdout: '2027 active 0 secrets\nmaster opens 0 secrets\n2026 MISSING 6 secrets\n',
    })
    const rotated = await manager(ring(2027), 'keys', 'rotate')
    expect([rotated.code, rotated.stderr]).toEqual([1, 'error: the encryption key 2026 is not in the ring\n'])
    expect(await stored()).toEqual(before)
    // With it nothing is missing.
    expect((await manager(ring(2027, 2026), 'keys', 'status')).code).toBe(0)
  })

  test('under another key of the same id nothing is wrapped', async () => {
    await seedSealed(3, secretsOf(2026))
    const before = await stored()
    const forged = `2027:${keys[2027]},2026:${keys[2025]}`
    expect((await manager(forged, 'keys', 'rotate')).code).toBe(1)
    expect(await stored()).toEqual(before)
  })
})

describe('the commands', () => {
  test('explain themselves without any configuration, and show the steps in their order', async () => {
    const { code, stdout } = await runManager(['keys', '--help'], {})
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Usage: manager keys /)])
    const steps = ['SVC_ENCRYPTION_KEYS=', 'keys rotate', 'keys status ', 'Remove the old key']
    const places = steps.map((step) => stdout.indexOf(step, stdout.indexOf('To change the key:')))
    expect(places.every((at) => at > 0)).toBe(true)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    for (const command of ['status', 'rotate']) {
      const help = await runManager(['keys', command, '--help'], {})
      expect([help.code, help.stdout]).toEqual([
        0,
        expect.stringMatching(new RegExp(`^Usage: manager keys ${command}`)),
      ])
    }
    expect(stdout.split('\n').every((line) => line.length <= 130)).toBe(true)
  })

  test('say nothing of a key or of a secret', async () => {
    const [id] = await seedSealed(1, secretsOf(2026))
    const sealed = (await stored())[0]?.auth_password as Buffer
    const results = [
      await manager(ring(2027), 'keys', 'status'),
      await manager(ring(2027), 'keys', 'rotate'),
      await manager(ring(2027, 2026), 'keys', 'rotate'),
      await manager(ring(2027, 2026), 'config', 'print'),
    ]
    const said = JSON.stringify(results)
    for (const hidden of [
      ...Object.values(keys),
      textOf(id as string, 'auth_password'),
      sealed.toString('hex'),
    ])
      expect(said).not.toContain(hidden)
    expect(said).toContain('encryption.keys: \\"********\\"')
  })
})

describe('the setting', () => {
  const load = (SVC_ENCRYPTION_KEYS?: string) =>
    loadConfig({ env: { ...testEnv('postgres://localhost/x'), SVC_ENCRYPTION_KEYS } })

  test('takes ids with keys, in their order, and nothing where there is none', () => {
    expect([...(load(ring(2027, 2026)).encryptionKeys ?? [])].map(([id]) => id)).toEqual(['2027', '2026'])
    expect([...(load(` ${ring(2027)} , ${ring(2026)}`).encryptionKeys ?? [])]).toHaveLength(2)
    expect(load().encryptionKeys).toBeUndefined()
    expect(load('').encryptionKeys).toBeUndefined()
    expect(printableConfig(load(ring(2027)))['encryption.keys']).toBe('********')
  })

  test('refuses what is no list of ids and keys, and does not repeat it', () => {
    const key = keys[2027]
    for (const wrong of [
      key,
      '2027',
      '2027:',
      `:${key}`,
      `2027:${key.slice(0, 40)}`,
      `2027:${key},`,
      `2027:${key},2027:${keys[2026]}`,
      `master:${key}`,
      `Upper:${key}`,
      `a b:${key}`,
      `${'x'.repeat(33)}:${key}`,
    ]) {
      let said = ''
      try {
        load(wrong)
      } catch (error) {
        said = (error as Error).message
      }
      expect([wrong, said]).toEqual([
        wrong,
        expect.stringContaining('SVC_ENCRYPTION_KEYS must be a list of id:key separated by commas'),
      ])
      expect(said).not.toContain(key.slice(0, 30))
    }
    expect(load(`${'x'.repeat(32)}:${key}`).encryptionKeys?.size).toBe(1)
  })
})
