// These tests cover the ring of signing keys in processes that share a database.
import { createHash, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { waitForLockWait, whileLocked } from '../../../test/kit/locks.ts'
import { seedProject } from '@manager/harness/seed.ts'
import { isTrusted, seedPilet, signingDepsOf } from '../../../test/kit/stored-pilets.ts'
import { type Signing, createSigning } from './signing.service.ts'

let service: TestApp
let sql: Pool
let signing: Signing
const bundle = Buffer.from('//@pilet v:2\nexport default 1')
const about = {
  projectId: '0199a000-0000-7000-8000-00000000b001',
  name: '@acme/menu',
  version: '1.0.0',
  hash: createHash('sha256').update(bundle).digest('hex'),
}

beforeAll(async () => {
  service = await startTestApp()
  sql = service.sql
})
afterAll(() => service.close())
beforeEach(async () => {
  await sql.query('delete from pilet_packages')
  await sql.query('delete from pilet_signing_keys')
  signing = anotherProcess()
})

/** Creates the service as in a process that has not used the ring yet. */
const anotherProcess = (): Signing => createSigning(signingDepsOf(service))
const ring = async () =>
  (
    await sql.query<{ key_id: string; is_active: boolean; public_key: Buffer }>(
      'select key_id, is_active, public_key from pilet_signing_keys order by created_at, id',
    )
  ).rows
const signed = async (by: Signing = signing) => ({ bytes: bundle, ...(await by.sign(bundle, about)) })

describe('a signature', () => {
  test('comes with one of a statement that binds project, name, version and hash, by the same key', async () => {
    const { statementSignature, statementKeyId, keyId } = await signed()
    const anchor = await signing.publicKeys()
    const isStated = (values: object): boolean => {
      const { projectId: project, name, version, hash } = { ...about, ...values }
      const text = JSON.stringify({ svcPiletStatement: 1, project, name, version, hash })
      return isTrusted(anchor, {
        bytes: Buffer.from(text),
        signature: statementSignature,
        keyId: statementKeyId,
      })
    }
    expect([statementKeyId, isStated({})]).toEqual([keyId, true])
    for (const other of [{ projectId: randomUUID() }, { name: 'menu' }, { version: '1.0.1' }, { hash: '0' }])
      expect([other, isStated(other)]).toEqual([other, false])
  })

  test('is never made over bytes that could pass as a statement, or an upload would speak for another pilet', async () => {
    const forged = JSON.stringify({ svcPiletStatement: 1, project: about.projectId, name: 'core' })
    await expect(signing.sign(Buffer.from(forged), about)).rejects.toMatchObject({ code: 'bad_request' })
    await expect(signing.sign(Buffer.from(` ${forged}`), about)).resolves.toBeDefined()
  })

  test('is a detached Ed25519 signature of the exact bytes, which the exported key verifies', async () => {
    const { signature, keyId, bytes } = await signed()
    const anchor = await signing.publicKeys()
    expect(signature).toHaveLength(64)
    expect(isTrusted(anchor, { bytes, signature, keyId })).toBe(true)
    expect(isTrusted(anchor, { bytes: Buffer.concat([bytes, Buffer.from(' ')]), signature, keyId })).toBe(
      false,
    )
  })

  test('names its key by the first 16 hex digits of the SHA-256 of the raw public key [pilet-feed.key-id]', async () => {
    const { keyId } = await signed()
    const [raw = ''] = Object.values(await signing.publicKeys())
    expect(Buffer.from(raw, 'base64')).toHaveLength(32)
    expect(keyId).toBe(createHash('sha256').update(Buffer.from(raw, 'base64')).digest('hex').slice(0, 16))
  })
})

describe('the first key', () => {
  test('is made by the first use, once for all processes that come at the same time, and is in the audit trail', async () => {
    const signatures = await Promise.all([1, 2, 3, 4].map(() => signed(anotherProcess())))
    expect(await ring()).toMatchObject([{ is_active: true }])
    const [{ key_id: keyId } = { key_id: '' }] = await ring()
    expect(signatures.map((one) => one.keyId)).toEqual([keyId, keyId, keyId, keyId])
    const { rows } = await sql.query(
      `select chain_id, action, principal_type, principal_id, changes -> 'isActive' as active from audit_logs
       where entity_type = 'piletSigningKey' and description like '%' || $1 || '%'`,
      [keyId],
    )
    expect(rows).toEqual([
      {
        chain_id: expect.any(String) as string,
        action: 'create',
        principal_type: 'system',
        principal_id: 'pilets',
        active: { before: null, after: true },
      },
    ])
  })

  test('of two that are created at once, one signs and the other waits to be activated', async () => {
    await Promise.all([anotherProcess().create(), anotherProcess().create()])
    expect((await ring()).filter((key) => key.is_active)).toHaveLength(1)
    expect(await ring()).toHaveLength(2)
  })
})

test('a key that waits for an exchange of the master key holds nothing that the exchange needs', async () => {
  await signing.create()
  const exchange: Parameters<typeof whileLocked>[1] = ['select from installation for update', []]
  await whileLocked(service.database.url, exchange, async (commit) => {
    const creation = signing.create()
    await waitForLockWait(sql)
    await sql.query(
      "begin; set local lock_timeout = '20s'; update pilet_signing_keys set private_key = private_key; commit",
    )
    await commit()
    await creation
  })
  expect(await ring()).toHaveLength(2)
})

describe('an activation', () => {
  test('counts at the next signature of every process, and what was signed before still verifies', async () => {
    const other = anotherProcess()
    const [before, earlier] = [await signed(), await signed(other)]
    const { keyId } = await signing.create()
    expect((await signed(other)).keyId).toBe(before.keyId)
    expect(await signing.activate(keyId)).toBe(true)
    const [after, later] = [await signed(), await signed(other)]
    expect([after.keyId, later.keyId]).toEqual([keyId, keyId])
    const anchor = await other.publicKeys()
    expect(Object.keys(anchor)).toEqual([before.keyId, keyId])
    expect([before, earlier, after, later].map((one) => isTrusted(anchor, one))).toEqual([
      true,
      true,
      true,
      true,
    ])
  })

  test('leaves exactly one key active, also when several are activated at once, and again changes nothing', async () => {
    const keys = [await signing.create(), await signing.create(), await signing.create()]
    await Promise.all(keys.map(({ keyId }) => anotherProcess().activate(keyId)))
    const active = (await ring()).filter((key) => key.is_active)
    expect(active).toHaveLength(1)
    expect(await signing.activate(active[0]?.key_id ?? '')).toBe(false)
    expect((await ring()).filter((key) => key.is_active)).toEqual(active)
  })

  test('of a second key beside the first is refused by the table itself', async () => {
    await signing.create()
    await signing.create()
    await expect(sql.query('update pilet_signing_keys set is_active = true')).rejects.toMatchObject({
      constraint: 'pilet_signing_keys_one_active',
    })
  })
})

describe('a deletion', () => {
  test('is refused for the active key, and by a foreign key while a pilet is signed with it', async () => {
    const project = await seedProject(sql, `p${randomUUID().slice(0, 8)}`)
    const first = await signed()
    const { keyId } = await signing.create()
    await expect(signing.remove(first.keyId)).rejects.toThrow(
      `the key ${first.keyId} is active; activate another key first`,
    )
    await seedPilet(sql, project.id, 'cart', { bytes: bundle, signed: first })
    await signing.activate(keyId)
    await expect(signing.remove(first.keyId)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`sign --replacing ${first.keyId}`) as string,
    })
    expect(await ring()).toHaveLength(2)
    await sql.query('delete from pilet_packages')
    await signing.remove(first.keyId)
    expect(await ring()).toMatchObject([{ key_id: keyId, is_active: true }])
  })

  test('waits for an upload that is signed with the key, and is refused then', async () => {
    const project = await seedProject(sql, `p${randomUUID().slice(0, 8)}`)
    const first = await signed()
    await signing.activate((await signing.create()).keyId)
    await seedPilet(sql, project.id, 'cart', { bytes: bundle })
    const upload: Parameters<typeof whileLocked>[1] = [
      'update pilet_packages set signature = $1, key_id = $2',
      [first.signature, first.keyId],
    ]
    const error: unknown = await whileLocked(service.database.url, upload, async (commit) => {
      const removal = signing.remove(first.keyId).catch((thrown: unknown) => thrown)
      await waitForLockWait(sql)
      await commit()
      return removal
    })
    expect(error).toMatchObject({ code: 'conflict' })
    expect(await ring()).toHaveLength(2)
  })
})

describe('what somebody writes into the table', () => {
  test('a sealed key that is copied to another row does not open, and is not activated', async () => {
    await signing.create()
    const { keyId } = await signing.create()
    await sql.query(
      `update pilet_signing_keys set private_key = (select private_key from pilet_signing_keys where is_active)
       where key_id = $1`,
      [keyId],
    )
    await expect(anotherProcess().activate(keyId)).rejects.toThrow(
      `the signing key ${keyId} cannot be decrypted`,
    )
    expect((await ring()).find((key) => key.is_active)?.key_id).not.toBe(keyId)
  })

  test('a public key of their own is not exported, neither in place of ours nor beside it', async () => {
    const { keyId } = await signing.create()
    await signing.publicKeys()
    await sql.query("update pilet_signing_keys set public_key = decode(repeat('07', 32), 'hex')")
    for (const process of [signing, anotherProcess()])
      await expect(process.publicKeys()).rejects.toThrow(`the signing key ${keyId} was changed`)
    const forged = createHash('sha256').update(Buffer.alloc(32, 7)).digest('hex').slice(0, 16)
    await sql.query('update pilet_signing_keys set key_id = $1', [forged])
    for (const process of [signing, anotherProcess()])
      await expect(process.publicKeys()).rejects.toThrow(`the signing key ${forged} was changed`)
  })

  test('errors about a key hold nothing of the private one', async () => {
    const deps = signingDepsOf(service)
    const { id, privateKey } = await signing.create()
    const place = { table: 'pilet_signing_keys', column: 'private_key', id }
    const opened = deps.secrets.open(privateKey, place)
    expect(opened).toMatch(/^MC4CAQAwBQYDK2VwBCIEI/)
    await sql.query('update pilet_signing_keys set private_key = $1', [
      deps.secrets.seal(`${opened.slice(0, 40)}!`, place),
    ])
    const error = (await anotherProcess()
      .sign(bundle, about)
      .catch((thrown: unknown) => thrown)) as Error
    expect(error.message).toMatch(/^the signing key [0-9a-f]{16} cannot be decrypted/)
    const told = `${error.stack} ${JSON.stringify(error)} ${String(error.cause)} ${JSON.stringify(error.cause)}`
    expect(told).not.toContain(opened.slice(20, 40))
    expect(JSON.stringify(service.logLines)).not.toContain(opened.slice(20, 40))
  })
})
