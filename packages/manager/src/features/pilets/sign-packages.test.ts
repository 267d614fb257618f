// These tests sign stored packages while other runs sign them or keys change.
import { createHash, randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import { isTrusted, seedPilet, signingDepsOf, readStoredPilets } from '../../../test/kit/stored-pilets.ts'
import type { BlobStores } from '../../platform/blobs/blob-store.ts'
import { createBlobs } from '../../platform/blobs/blobs.ts'
import { createPackageSigning } from './sign-packages.service.ts'
import { type Signing, createSigning } from './signing.service.ts'

const bundle = Buffer.from('//@pilet v:2\nexport default 1')
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const { service, project, other } = useProject({ withOther: true })
const anotherProcess = (): Signing => createSigning(signingDepsOf(service))
const signAll = (
  keyToReplace: string | null = null,
  { signing = anotherProcess(), stores = service.world.blobStores } = {},
) => {
  const { db, audit } = signingDepsOf(service)
  return createPackageSigning({ db, audit, signing, stores })({ keyToReplace })
}
/** Creates unsigned packages, alternating between two projects. */
async function seedPilets(count: number): Promise<void> {
  for (let index = 0; index < count; index++)
    await seedPilet(service.sql, (index % 2 === 0 ? project : other).id, `pilet-${index}`)
}

beforeEach(() => service.sql.query('delete from pilet_packages'))

test('two runs at once sign every package once, over the ends of batches, with an audit row each', async () => {
  const { sql } = service
  await seedPilets(120)
  const results = await Promise.all([signAll(), signAll()])
  expect(results.map(({ damagedPackages: damaged }) => damaged)).toEqual([[], []])
  expect(results[0].signedCount + results[1].signedCount).toBe(120)
  const anchor = await anotherProcess().publicKeys()
  const stored = await readStoredPilets(sql)
  expect(stored.filter((one) => isTrusted(anchor, one))).toHaveLength(120)
  const { rows } = await sql.query<{ entity_id: string }>(
    `select entity_id from audit_logs where entity_type = 'piletPackage' and action = 'update'
       and principal_id = 'manager pilet-keys sign' and chain_id::text = any ($1)`,
    [[project.id, other.id]],
  )
  expect(rows.map((row) => row.entity_id).toSorted()).toEqual(stored.map(({ id }) => id).toSorted())
  expect(await signAll()).toEqual({ signedCount: 0, damagedPackages: [] })
})

test('bytes that are stored in several pieces are signed as a whole', async () => {
  const bytes = randomBytes(1_500_000)
  const { db } = signingDepsOf(service)
  const blobs = createBlobs({ db, stores: service.world.blobStores })
  await blobs.store(sha256(bytes), bytes)
  await seedPilet(service.sql, project.id, 'large', { bytes })
  expect(await signAll()).toEqual({ signedCount: 1, damagedPackages: [] })
  const [large] = await readStoredPilets(service.sql)
  expect(
    isTrusted(await anotherProcess().publicKeys(), { keyId: null, signature: null, ...large, bytes }),
  ).toBe(true)
})

test('a run that is interrupted keeps what it has written, and the next one does the rest', async () => {
  await seedPilets(60)
  let reads = 0
  const failing: BlobStores = {
    ...service.world.blobStores,
    getStore: (name) => {
      if (++reads > 55) throw new Error('the bucket is gone')
      return service.world.blobStores.getStore(name)
    },
  }
  await expect(signAll(null, { stores: failing })).rejects.toThrow('the bucket is gone')
  const left = (await readStoredPilets(service.sql)).filter(({ keyId }) => keyId === null)
  expect(left).toHaveLength(10)
  expect(await signAll()).toEqual({ signedCount: 10, damagedPackages: [] })
})

test('a key that becomes active again is not replaced by itself', async () => {
  const signing = anotherProcess()
  const about = { projectId: project.id, name: 'cart', version: '1.0.0', hash: sha256(bundle) }
  const first = await signing.sign(bundle, about)
  await seedPilet(service.sql, project.id, 'cart', { bytes: bundle, signed: first })
  await expect(signAll(first.keyId)).rejects.toThrow(`the key ${first.keyId} is active`)
  await signing.activate((await signing.create()).keyId)
  // The key is activated between the read of the ring and the signature.
  const meanwhile: Signing = {
    ...signing,
    sign: async (...args) => {
      await signing.activate(first.keyId)
      return signing.sign(...args)
    },
  }
  await expect(signAll(first.keyId, { signing: meanwhile })).rejects.toThrow(
    `the key ${first.keyId} is active`,
  )
  expect((await readStoredPilets(service.sql))[0]?.keyId).toBe(first.keyId)
})

/** Returns whether a key of the ring has signed a package's statement. */
async function isStated(name: string): Promise<boolean> {
  const { rows } = await service.sql.query(
    'select project_id, version, hash, statement_signature, statement_key_id from pilet_packages where name = $1',
    [name],
  )
  const { project_id, version, hash, statement_signature: signature, statement_key_id: keyId } = rows[0]
  const text = JSON.stringify({ svcPiletStatement: 1, project: project_id, name, version, hash })
  return isTrusted(await anotherProcess().publicKeys(), { bytes: Buffer.from(text), signature, keyId })
}

test('packages that were signed before there were statements get one, and the active key', async () => {
  const signing = anotherProcess()
  const signedAs = (name: string) =>
    signing.sign(bundle, { projectId: project.id, name, version: '1.0.0', hash: sha256(bundle) })
  const old = await signedAs('old')
  await seedPilet(service.sql, project.id, 'old', { bytes: bundle, signed: old })
  await signing.activate((await signing.create()).keyId)
  const recent = await signedAs('recent')
  await seedPilet(service.sql, project.id, 'recent', { bytes: bundle, signed: recent })
  // A signature that does not match the bytes is left unchanged.
  const wrong = { ...recent, signature: old.signature }
  await seedPilet(service.sql, project.id, 'wrong', { bytes: Buffer.from('other'), signed: wrong })
  expect(await signing.countUnsigned()).toEqual({ unsigned: 0, unstated: 3 })
  expect(await signAll()).toMatchObject({
    signedCount: 2,
    damagedPackages: [{ name: 'wrong', damage: 'signature' }],
  })
  expect((await readStoredPilets(service.sql)).map(({ name, keyId }) => [name, keyId])).toEqual([
    ['old', recent.keyId],
    ['recent', recent.keyId],
    ['wrong', recent.keyId],
  ])
  expect([await isStated('old'), await isStated('recent'), await isStated('wrong')]).toEqual([
    true,
    true,
    false,
  ])
  expect(await signing.countUnsigned()).toEqual({ unsigned: 0, unstated: 1 })
})

test('stored bytes that could pass as a statement are not signed', async () => {
  const bytes = Buffer.from(JSON.stringify({ svcPiletStatement: 1, project: other.id, name: 'core' }))
  await seedPilet(service.sql, project.id, 'forged', { bytes })
  expect(await signAll()).toMatchObject({
    signedCount: 0,
    damagedPackages: [{ name: 'forged', damage: 'statement' }],
  })
  expect((await readStoredPilets(service.sql))[0]?.signature).toBeNull()
})
