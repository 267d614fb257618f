// Tests that an installation has one master key. Commands and processes reject any other key before they sign,
// seal or verify. The key can be replaced without losing a token, a secret or a checkpoint.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Person, headersOf, masterKey } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { type TestDatabase, createScratchDatabase } from './kit/databases.ts'
import { gatewayScene } from './kit/gateway.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { runManager } from './kit/commands.ts'
import { runUntilExit, startProcess } from '@manager/harness/process.ts'
import { seedUser } from '@manager/harness/seed.ts'
import { type Upstream, startUpstream } from './kit/upstream.ts'

const otherKey = randomBytes(32).toString('base64')
const refusal =
  /SVC_MASTER_KEY is not the master key of this database .*start with the previous key, or replace the master key with/

const seal = (service: TestApp): Promise<void> =>
  service.app.schedules.find(({ name }) => name === 'audit-checkpoint')?.run() ??
  Promise.reject(new Error('there is no such job'))
const createProject = (service: TestApp, admin: Person, slug: string) =>
  service.query(admin, 'mutation($s: String!) { createProject(input: {name: $s, slug: $s}) { id } }', {
    s: slug,
  })

describe('another master key', () => {
  let service: TestApp
  let admin: Person
  beforeAll(async () => {
    service = await startTestApp()
    admin = await seedUser(service.sql, 'admin', 'administrator')
    await createProject(service, admin, 'first')
    await seal(service)
  })
  afterAll(() => service.close())
  const withOther = () => ({ ...testEnv(service.database.url), SVC_MASTER_KEY: otherKey })

  test('does not start, and says in one sentence what to do', async () => {
    const { code, stderr } = await runUntilExit({ ...withOther(), SVC_PORT: '0', SVC_HEALTH_PORT: '0' })
    expect(code).toBe(1)
    expect(stderr).toMatch(refusal)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(stderr).not.toContain(otherKey)
  })

  test('is refused by the commands that would judge or seal with it', async () => {
    for (const args of [
      ['audit', 'verify'],
      ['keys', 'status'],
      ['keys', 'rotate'],
    ]) {
      const { code, stderr } = await runManager(args, withOther())
      expect([args, code]).toEqual([args, 1])
      expect(stderr).toMatch(refusal)
    }
  })

  test('signs no checkpoint, and the trail of the right one still verifies', async () => {
    const wrong = await startTestApp({ database: service.database, env: { SVC_MASTER_KEY: otherKey } })
    await createProject(service, admin, 'second')
    await expect(seal(wrong)).rejects.toThrow(refusal)
    await wrong.close()
    await seal(service)
    const { code, stdout } = await runManager(['audit', 'verify'], testEnv(service.database.url))
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^audit trail ok: .*2 checkpoints/)])
  })

  test('does not take over a database whose checkpoints an earlier release has signed', async () => {
    await service.sql.query('delete from installation')
    expect((await runManager(['keys', 'status'], withOther())).stderr).toMatch(refusal)
    expect((await runManager(['keys', 'status'], testEnv(service.database.url))).code).toBe(0)
    const { rows } = await service.sql.query('select master_key_id from installation')
    expect(rows).toEqual([{ master_key_id: expect.stringMatching(/^[0-9a-f]{16}$/) as string }])
  })
})

describe('keys exchange-master', () => {
  let database: TestDatabase
  let upstream: Upstream
  beforeAll(async () => {
    ;[database, upstream] = await Promise.all([createScratchDatabase(), startUpstream()])
  })
  afterAll(async () => {
    await upstream.close()
    await database.drop()
  })

  const exchange = (file: string, env: Record<string, string | undefined>) =>
    runManager(['keys', 'exchange-master', '--new-key-file', file], env)
  const keyFile = (content: string): string => {
    const file = `${mkdtempSync(`${tmpdir()}/master-key-`)}/key`
    writeFileSync(file, `${content}\n`)
    return file
  }

  test('keeps tokens, stored secrets and checkpoints valid, and leaves a row in the trail', async () => {
    const env = testEnv(database.url)
    const service = await startTestApp({ database })
    const scene = await gatewayScene(service)
    const { admin } = scene
    const endpoint = await scene.endpoint({
      authType: 'Bearer',
      authToken: 'partner-token',
      url: `${upstream.url}/p`,
    })
    const made = await service.query(
      admin,
      'mutation { createPersonalAccessToken(name: "before") { token } }',
    )
    const { token } = made.data.createPersonalAccessToken as { token: string }
    await seal(service)

    // The replacement is refused while the service is running, because the running process would continue to seal with
    // the previous key.
    const file = keyFile(otherKey)
    expect((await exchange(file, env)).stderr).toMatch(
      /open database connections: \d+\); stop every process of the service first/,
    )
    await service.close()
    for (const wrong of ['', 'short', `${otherKey}${otherKey}`, masterKey])
      expect((await exchange(keyFile(wrong), env)).code).toBe(1)
    const done = await exchange(file, env)
    expect([done.code, done.stdout]).toEqual([
      0,
      expect.stringMatching(/^The master key is now [0-9a-f]{16}\. Resealed 1 stored/),
    ])
    expect(done.stdout + done.stderr).not.toContain(otherKey)

    // The previous key is now rejected, and the new key opens all secrets.
    expect((await runManager(['audit', 'verify'], env)).stderr).toMatch(refusal)
    const after = { ...env, SVC_MASTER_KEY: otherKey }
    const verified = await runManager(['audit', 'verify'], after)
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringMatching(/^audit trail ok/)])
    const running = await startProcess(database.url, {
      SVC_MASTER_KEY: otherKey,
      SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
    })
    onTestFinished(async () => {
      running.child.kill('SIGTERM')
      await running.exit
    })
    const proxy = headersOf(admin)['x-proxy-auth'] as string
    const me = await postQuery(
      running.url,
      { 'x-proxy-auth': proxy, authorization: `Bearer ${token}` },
      '{ me { id } }',
    )
    expect(me.data).toEqual({ me: { id: admin.id } })
    upstream.received.length = 0
    const call = await fetch(`${running.url}${endpoint.path}`, {
      headers: { authorization: `Bearer ${scene.machine.token}` },
    })
    expect(call.status).toBe(200)
    expect(upstream.received.at(-1)?.headers.authorization).toBe('Bearer partner-token')
    const sql = new Pool({ connectionString: database.url })
    const { rows } = await sql.query(
      "select action, description, principal_type, principal_id from audit_logs where entity_type = 'installation'",
    )
    await sql.end()
    expect(rows).toEqual([
      {
        action: 'rotate',
        description: 'installation master key rotated',
        principal_type: 'system',
        principal_id: 'manager keys exchange-master',
      },
    ])

    // A second replacement preserves the same data, and the keys of stored secrets can still be rotated.
    running.child.kill('SIGTERM')
    await running.exit
    const third = randomBytes(32).toString('base64')
    expect((await exchange(keyFile(third), after)).code).toBe(0)
    const last = {
      ...env,
      SVC_MASTER_KEY: third,
      SVC_ENCRYPTION_KEYS: `2027:${randomBytes(32).toString('base64')}`,
    }
    expect((await runManager(['keys', 'rotate'], last)).stdout).toMatch(/^Rewrapped 5 of 5 secrets/)
    expect((await runManager(['audit', 'verify'], last)).stdout).toMatch(/^audit trail ok/)
  })

  test('takes no secret from a process that goes on with the former key, and names a secret that does not open', async () => {
    const own = await createScratchDatabase()
    onTestFinished(() => own.drop())
    // Use a different application name, so that the command does not detect the running service.
    const named = { ...own, url: `${own.url}?application_name=production` }
    const service = await startTestApp({ database: named })
    const scene = await gatewayScene(service)
    await scene.endpoint({ authType: 'Bearer', authToken: 'first' })
    expect((await exchange(keyFile(otherKey), testEnv(named.url))).code).toBe(0)
    await expect(scene.endpoint({ authType: 'Bearer', authToken: 'lost' })).rejects.toThrow(
      'the master key was rotated; restart this process with the new key',
    )
    await expect(scene.endpoint({ authType: 'None' })).resolves.toBeDefined()
    await service.sql.query(
      "update endpoints set auth_token = auth_token || '\\x00' where auth_token is not null",
    )
    await service.close()
    const again = await exchange(keyFile(masterKey), { ...testEnv(own.url), SVC_MASTER_KEY: otherKey })
    expect([again.code, again.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^error: cannot decrypt auth_token of endpoints [0-9a-f-]{36}: enter it again, or remove it/,
      ),
    ])
  })
})
