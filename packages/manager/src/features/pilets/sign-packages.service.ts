// Signs stored packages that have no signature or statement yet, or whose signing key is no longer trusted.
import { type Audit, createSystemActor } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
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
  keyToReplace: string | null
  onPackage?: (doneCount: number) => void
}
type Damage = 'bytes' | 'signature' | 'statement'
export type SignedPackages = {
  signedCount: number
  damagedPackages: (store.PackageToSign & { damage: Damage })[]
}

const batchSize = 50
const firstPossibleId = '00000000-0000-0000-0000-000000000000'

const event = createEventBuilder<
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
const getAuditedFields = (
  { id, projectId, name, version }: store.PackageToSign,
  { keyId, hasStatement }: Pick<store.PackageToSign, 'keyId' | 'hasStatement'>,
): Parameters<typeof event>[1]['after'] => ({ id, projectId, name, version, keyId, hasStatement })

/**
 * Creates the function that signs packages. It reads and signs one package at a time, and writes up to 50 signatures
 * per transaction. An interrupted run can be restarted. If two runs overlap, the first written signature wins.
 */
export function createPackageSigning({ db, signing, stores, audit }: Deps) {
  const signOne = async (
    packageToSign: store.PackageToSign,
    previous: VerifyingKey | null,
  ): Promise<Signature | Damage> => {
    const bytes = await readVerified(stores, packageToSign)
    if (bytes === null) return 'bytes'
    // Browsers reject these bytes today. A new signature must not make the bytes trusted.
    if (previous !== null && !previous.verify(bytes, packageToSign.signature ?? Buffer.alloc(0)))
      return 'signature'
    if (isStatement(bytes)) return 'statement'
    return signing.sign(bytes, { ...packageToSign, hash: packageToSign.sha256 })
  }
  const write = (batch: readonly (readonly [store.PackageToSign, Signature])[]): Promise<number> =>
    db.transaction(async (tx) => {
      // The batch is sorted by project, because the commit updates the version row of each project. Two runs
      // must lock these rows in the same order.
      const orderedBatch = batch.toSorted(([a], [b]) =>
        `${a.projectId}${a.id}` < `${b.projectId}${b.id}` ? -1 : 1,
      )
      const events = []
      for (const [packageToSign, signature] of orderedBatch)
        if (await store.writeSignature(tx, packageToSign, signature))
          events.push(
            event('update', {
              before: getAuditedFields(packageToSign, packageToSign),
              after: getAuditedFields(packageToSign, { keyId: signature.keyId, hasStatement: true }),
            }),
          )
      await audit.append(tx, createSystemActor('manager pilet-keys sign'), ...events)
      return events.length
    })

  return async ({ keyToReplace, onPackage = () => undefined }: Options): Promise<SignedPackages> => {
    const replacedKeyId = keyToReplace === null ? null : await checkReplacedKey(signing, keyToReplace)
    const findKey = createKeyFinder(signing)
    const result: SignedPackages = { signedCount: 0, damagedPackages: [] }
    let [afterId, doneCount] = [firstPossibleId, 0]
    for (;;) {
      const packages = await store.findPackagesToSign(db.read, {
        keyId: keyToReplace,
        after: afterId,
        limit: batchSize,
      })
      const batch: [store.PackageToSign, Signature][] = []
      for (const packageToSign of packages) {
        const signResult = await signOne(
          packageToSign,
          packageToSign.keyId === null ? null : await findKey(packageToSign.keyId),
        )
        if (typeof signResult !== 'string' && signResult.keyId === replacedKeyId)
          throw createActiveKeyError(replacedKeyId)
        if (typeof signResult === 'string')
          result.damagedPackages.push({ ...packageToSign, damage: signResult })
        else batch.push([packageToSign, signResult])
        onPackage(++doneCount)
      }
      result.signedCount += await write(batch)
      afterId = packages.at(-1)?.id ?? afterId
      if (packages.length < batchSize) return result
    }
  }
}

/** Returns the id of the key to replace. Throws if that key is active. */
async function checkReplacedKey(signing: Pick<Signing, 'find'>, keyId: string): Promise<string> {
  const { isActive } = await signing.find(keyId)
  if (isActive) throw createActiveKeyError(keyId)
  return keyId
}

/** Returns a cached lookup of verifying keys. Private keys are not needed and may no longer be decryptable. */
function createKeyFinder(signing: Pick<Signing, 'find'>): (keyId: string) => Promise<VerifyingKey> {
  const keys = new Map<string, VerifyingKey>()
  return async (keyId) => {
    const key = keys.get(keyId) ?? createVerifyingKey((await signing.find(keyId)).publicKey)
    if (key.keyId !== keyId)
      throw new Error(
        `the signing key ${keyId} was changed: its public key does not match its id; restore the row from a backup`,
      )
    keys.set(keyId, key)
    return key
  }
}

const createActiveKeyError = (keyId: string) =>
  conflict(`the key ${keyId} is active; activate another signing key first`)
