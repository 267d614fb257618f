// Replaces the master key of an installation.
import { sql } from 'kysely'
import { renewCopyMark } from '../audit/checkpoint-copies.ts'
import { createQuery } from '../audit/rows.ts'
import { resetVerification, deriveVerificationKey } from '../audit/verification-marks.ts'
import type { Tx } from '../postgres/handles.ts'
import { newId } from '../ids.ts'
import { createSigningKey, deriveSecretKey, computeMasterKeyId } from '../secrets/keys.ts'
import { readKeyId } from '../secrets/master-key.ts'
import { type SealedColumns, resealAll } from '../secrets/sealed-columns.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { type RetiredKey, getRetiredKeyLocation } from './retired-keys.ts'

type KeySet = { masterKey: Buffer; secrets: Secrets }
type Rotation = { sealedColumns: readonly SealedColumns[]; from: KeySet; to: KeySet }

/**
 * Switches the database to a different master key in the given transaction. Reseals every stored secret and retires
 * the previous keys, so that existing tokens and signatures can still be verified. Verification of the audit trail
 * restarts, because its marks carry MACs of the previous key. The lock on the installation row blocks transactions
 * that seal a secret.
 */
export async function rotateMasterKey(
  tx: Tx,
  { sealedColumns, from, to }: Rotation,
): Promise<{ resealed: number }> {
  const [previousId, nextId] = [computeMasterKeyId(from.masterKey), computeMasterKeyId(to.masterKey)]
  if (previousId === nextId) throw new Error('the new master key is the same as the current one')
  if ((await readKeyId(tx, sql`for update`)) !== previousId)
    throw new Error('SVC_MASTER_KEY is not the master key of this database')
  const resealedCount = await resealAll(tx, sealedColumns, from.secrets, to.secrets)
  for (const key of await listKeysToRetire(tx, from.masterKey)) {
    const id = newId()
    const sealedKey = to.secrets.seal(JSON.stringify(key), getRetiredKeyLocation(id))
    await tx.insertInto('retiredKeys').values({ id, purpose: key.purpose, sealed: sealedKey }).execute()
  }
  await resetVerification(createQuery(tx))
  await renewCopyMark(
    createQuery(tx),
    deriveVerificationKey(from.masterKey),
    deriveVerificationKey(to.masterKey),
  )
  await sql`update installation set master_key_id = ${nextId}`.execute(tx)
  return { resealed: resealedCount }
}

/**
 * Returns the keys to keep for verification. The checkpoint key includes its last checkpoint, so that a
 * leaked key cannot sign later checkpoints.
 */
async function listKeysToRetire(tx: Tx, masterKey: Buffer): Promise<RetiredKey[]> {
  const { publicKey, keyId } = createSigningKey(masterKey, 'audit-checkpoint')
  const lastCheckpoint = await tx
    .selectFrom('auditCheckpoints')
    .select(['seq', 'hash', 'keyId'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  const secret = deriveSecretKey(masterKey, 'access-token-check').export().toString('base64')
  const checkKey: RetiredKey = { purpose: 'access-token-check', secret }
  if (lastCheckpoint?.keyId !== keyId) return [checkKey]
  return [
    checkKey,
    {
      purpose: 'audit-checkpoint',
      publicKey: publicKey.toString('base64'),
      last: { seq: Number(lastCheckpoint.seq), hash: lastCheckpoint.hash.toString('hex') },
    },
  ]
}
