// Signs stored packages that have no signature or statement yet, or that were signed with a key that is no longer
// trusted.
import { type Audit, systemActor } from '../../platform/audit/append.ts'
import { auditedEntity } from '../../platform/audit/entity.ts'
import { readVerified } from '../../platform/blobs/blob-cache.ts'
import type { BlobStores } from '../../platform/blobs/blob-store.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { conflict } from '../../platform/errors.ts'
import { isStatement } from '../../platform/inputs/package-statement.ts'
import { type VerifyingKey, createVerifyingKey } from '../../platform/secrets/keys.ts'
import * as store from './sign-packages.store.ts'
import type { Signature, Signing } from './signing.service.ts'

type Deps = { db: Db; signing: Pick<Signing, 'sign' | 'find'>; stores: BlobStores; audit: Audit }
type Options = {
  /** Key whose packages are signed again; null selects packages without a signature or a statement. */
  replacing: string | null
  onPackage?: (done: number) => void
}
type Damage = 'bytes' | 'signature' | 'statement'
export type SignedPackages = { signed: number; damaged: (store.PackageToSign & { damage: Damage })[] }

const batchSize = 50
const beforeAll = '00000000-0000-0000-0000-000000000000'

const event = auditedEntity<
  Pick<store.PackageToSign, 'id' | 'projectId' | 'name' | 'version' | 'keyId' | 'hasStatement'>
>({
  type: 'piletPackage',
  classes: {
    id: 'public',
    projectId: 'public',
    name: 'public',
    version: 'public',
    keyId: 'public',
    hasStatement: 'public',
  },
  nameOf: ({ name, version }) => `${name} ${version}`,
  projectOf: ({ projectId }) => projectId,
})
const audited = (
  { id, projectId, name, version }: store.PackageToSign,
  { keyId, hasStatement }: Pick<store.PackageToSign, 'keyId' | 'hasStatement'>,
): Parameters<typeof event>[1]['after'] => ({ id, projectId, name, version, keyId, hasStatement })

/**
 * Creates the function that signs packages. It reads and signs one package at a time, and writes up to 50 signatures
 * per transaction. An interrupted run can be restarted. If two runs overlap, the first written signature wins.
 */
export function createPackageSigning({ db, signing, stores, audit }: Deps) {
  const signOne = async (
    one: store.PackageToSign,
    previous: VerifyingKey | null,
  ): Promise<Signature | Damage> => {
    const bytes = await readVerified(stores, one)
    if (bytes === null) return 'bytes'
    // Browsers reject these bytes today. A new signature must not make them trusted.
    if (previous !== null && !previous.verify(bytes, one.signature ?? Buffer.alloc(0))) return 'signature'
    if (isStatement(bytes)) return 'statement'
    return signing.sign(bytes, { ...one, hash: one.sha256 })
  }
  const write = (batch: readonly (readonly [store.PackageToSign, Signature])[]): Promise<number> =>
    db.transaction(async (tx) => {
      // The batch is sorted by project: the commit updates the version row of each project, and two runs must lock
      // these rows in the same order.
      const ordered = batch.toSorted(([a], [b]) =>
        `${a.projectId}${a.id}` < `${b.projectId}${b.id}` ? -1 : 1,
      )
      const events = []
      for (const [one, signature] of ordered)
        if (await store.writeSignature(tx, one, signature))
          events.push(
            event('update', {
              before: audited(one, one),
              after: audited(one, { keyId: signature.keyId, hasStatement: true }),
            }),
          )
      await audit.append(tx, systemActor('manager pilet-keys sign'), ...events)
      return events.length
    })

  return async ({ replacing, onPackage = () => undefined }: Options): Promise<SignedPackages> => {
    const replaced = replacing === null ? null : await findReplaced(signing, replacing)
    const keyOf = createKeyFinder(signing)
    const result: SignedPackages = { signed: 0, damaged: [] }
    let [after, done] = [beforeAll, 0]
    for (;;) {
      const found = await store.findPackagesToSign(db.read, { keyId: replacing, after, limit: batchSize })
      const batch: [store.PackageToSign, Signature][] = []
      for (const one of found) {
        const signed = await signOne(one, one.keyId === null ? null : await keyOf(one.keyId))
        if (typeof signed !== 'string' && signed.keyId === replaced) throw stillActive(replaced)
        if (typeof signed === 'string') result.damaged.push({ ...one, damage: signed })
        else batch.push([one, signed])
        onPackage(++done)
      }
      result.signed += await write(batch)
      after = found.at(-1)?.id ?? after
      if (found.length < batchSize) return result
    }
  }
}

/** Returns the id of the key to replace. Throws if that key is active. */
async function findReplaced(signing: Pick<Signing, 'find'>, keyId: string): Promise<string> {
  const { isActive } = await signing.find(keyId)
  if (isActive) throw stillActive(keyId)
  return keyId
}

/** Returns a cached lookup of verifying keys. Private keys are not needed and may no longer be decryptable. */
function createKeyFinder(signing: Pick<Signing, 'find'>): (keyId: string) => Promise<VerifyingKey> {
  const found = new Map<string, VerifyingKey>()
  return async (keyId) => {
    const key = found.get(keyId) ?? createVerifyingKey((await signing.find(keyId)).publicKey)
    if (key.keyId !== keyId)
      throw new Error(
        `the signing key ${keyId} was changed: its public key does not match its id; restore the row from a backup`,
      )
    found.set(keyId, key)
    return key
  }
}

const stillActive = (keyId: string) =>
  conflict(`the key ${keyId} is active; activate another key first, which then signs instead`)
