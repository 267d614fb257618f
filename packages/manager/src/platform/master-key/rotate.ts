// Replaces the master key of an installation.
import { sql } from 'kysely'
import { renewCopyMark } from '../audit/checkpoint-copies.ts'
import { queryOf } from '../audit/rows.ts'
import { resetVerification, verificationKey } from '../audit/verification-marks.ts'
import type { Tx } from '../postgres/handles.ts'
import { newId } from '../ids.ts'
import { createSigningKey, deriveSecretKey, masterKeyId } from '../secrets/keys.ts'
import { readKeyId } from '../secrets/master-key.ts'
import { type SealedColumns, resealAll } from '../secrets/sealed-columns.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { type RetiredKey, retiredKeyLocation } from './retired-keys.ts'

type Side = { masterKey: Buffer; secrets: Secrets }
type Rotation = { sealedColumns: readonly SealedColumns[]; from: Side; to: Side }

/**
 * Switches the database to another master key in the given transaction. It reseals every stored secret and retires the
 * previous keys, so that existing tokens and signatures still verify. Verification of the audit trail restarts, because
 * the previous key signed its marks. The lock on the installation row blocks transactions that seal a secret.
 */
export async function rotateMasterKey(
  tx: Tx,
  { sealedColumns, from, to }: Rotation,
): Promise<{ resealed: number }> {
  const [previous, next] = [masterKeyId(from.masterKey), masterKeyId(to.masterKey)]
  if (previous === next) throw new Error('the new master key is the same as the current one')
  if ((await readKeyId(tx, sql`for update`)) !== previous)
    throw new Error('SVC_MASTER_KEY is not the master key of this database')
  const resealed = await resealAll(tx, sealedColumns, from.secrets, to.secrets)
  for (const key of await keysToRetire(tx, from.masterKey)) {
    const id = newId()
    const sealed = to.secrets.seal(JSON.stringify(key), retiredKeyLocation(id))
    await tx.insertInto('retiredKeys').values({ id, purpose: key.purpose, sealed }).execute()
  }
  await resetVerification(queryOf(tx))
  await renewCopyMark(queryOf(tx), verificationKey(from.masterKey), verificationKey(to.masterKey))
  await sql`update installation set master_key_id = ${next}`.execute(tx)
  return { resealed }
}

/** Returns the keys to keep for verification, with the last checkpoint, so that a leaked key cannot sign later ones. */
async function keysToRetire(tx: Tx, masterKey: Buffer): Promise<RetiredKey[]> {
  const { publicKey, keyId } = createSigningKey(masterKey, 'audit-checkpoint')
  const last = await tx
    .selectFrom('auditCheckpoints')
    .select(['seq', 'hash', 'keyId'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  const secret = deriveSecretKey(masterKey, 'access-token-check').export().toString('base64')
  const check: RetiredKey = { purpose: 'access-token-check', secret }
  if (last?.keyId !== keyId) return [check]
  return [
    check,
    {
      purpose: 'audit-checkpoint',
      publicKey: publicKey.toString('base64'),
      last: { seq: Number(last.seq), hash: last.hash.toString('hex') },
    },
  ]
}
