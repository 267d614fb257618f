// Tests `manager keys status` and `manager keys rotate`, which change the key of stored secrets while a
// service is running.
import { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { settings } from '../src/settings.ts'
import { loadConfig } from '../src/config/config.ts'
import { maskConfig } from '../src/config/config-format.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { type TestDatabase, createScratchDatabase } from './kit/databases.ts'
import { runManager } from './kit/commands.ts'
import { keys, ring, textOf } from '@manager/harness/sealed-endpoints.ts'
import { sealedEndpoints, secretsOf } from './kit/sealed-endpoints.ts'
import { type SeededProject, seedProject } from '@manager/harness/seed.ts'

let database: TestDatabase
let sql: Pool
let project: SeededProject
beforeAll(async () => {
  database = await createScratchDatabase()
  sql = new Pool({ connectionString: database.url, max: 3 })
  project = await seedProject(sql, 'keys')
})
afterEach(() => sql.query('delete from endpoints'))
afterAll(async () => {
  await sql.end()
  await database.drop()
})

const { manager, seedSealed, stored, countedByKey, openAll } = sealedEndpoints(() => ({
  database,
  sql,
  project,
}))

describe('keys rotate', () => {
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
    const said = (done: number) =>
      `Rewrapped ${done} of 30 secrets with key 2027; all other secrets already used this key.\n`
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
      '2027 active 0 secrets\n2026 decrypts 10 secrets\n2025 decrypts 8 secrets\nmaster decrypts 6 secrets\n',
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
      stdout: '2027 active 0 secrets\nmaster decrypts 0 secrets\n2026 MISSING 6 secrets\n',
    })
    const rotated = await manager(ring(2027), 'keys', 'rotate')
    expect([rotated.code, rotated.stderr]).toEqual([1, 'error: the encryption key 2026 is not in the ring\n'])
    expect(await stored()).toEqual(before)
    // With the previous key in the ring, no key is missing.
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
    const positions = steps.map((step) => stdout.indexOf(step, stdout.indexOf('To rotate the key')))
    expect(positions.every((at) => at > 0)).toBe(true)
    expect(positions).toEqual(positions.toSorted((a, b) => a - b))
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
    expect(said).toContain('# encryption.keys: ********\\n')
  })
})

describe('the setting', () => {
  const load = (SVC_ENCRYPTION_KEYS?: string) =>
    loadConfig({ env: { ...testEnv('postgres://localhost/x'), SVC_ENCRYPTION_KEYS } }, settings)

  test('takes ids with keys, in their order, and nothing where there is none', () => {
    expect([...(load(ring(2027, 2026)).encryptionKeys ?? [])].map(([id]) => id)).toEqual(['2027', '2026'])
    expect([...(load(` ${ring(2027)} , ${ring(2026)}`).encryptionKeys ?? [])]).toHaveLength(2)
    expect(load().encryptionKeys).toBeUndefined()
    expect(load('').encryptionKeys).toBeUndefined()
    expect(maskConfig(load(ring(2027)), settings)['encryption.keys']).toBe('********')
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
