// How the master key of an installation is exchanged for another.
import { sql } from 'kysely'
import { renewCopyMark } from '../audit/checkpoint-copies.ts'
import { queryOf } from '../audit/rows.ts'
import { forgetVerification, verificationKey } from '../audit/verification-marks.ts'
import type { Tx } from '../postgres/handles.ts'
import { newId } from '../ids.ts'
import { createSigningKey, deriveSecretKey, masterKeyId } from '../secrets/keys.ts'
import { readKeyId } from '../secrets/master-key.ts'
import { type SealedColumns, resealAll } from '../secrets/sealed-columns.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { type RetiredKey, retiredPlace } from './retired-keys.ts'

type Side = { masterKey: Buffer; secrets: Secrets }
type Exchange = { sealedColumns: readonly SealedColumns[]; from: Side; to: Side }

/**
 * Makes the database belong to another master key, in the given transaction: every stored secret is sealed again, and
 * what the former key issued and signed still verifies. Verification of the trail begins anew, because its marks are
 * those of the former key. The lock of the one row blocks transactions that seal a secret.
 */
export async function exchangeMasterKey(
  tx: Tx,
  { sealedColumns, from, to }: Exchange,
): Promise<{ resealed: number }> {
  const [former, next] = [masterKeyId(from.masterKey), masterKeyId(to.masterKey)]
  if (former === next) throw new Error('the new master key is the present one')
  if ((await readKeyId(tx, sql`for update`)) !== former)
    throw new Error('SVC_MASTER_KEY is not the master key of this database')
  const resealed = await resealAll(tx, sealedColumns, from.secrets, to.secrets)
  for (const key of await keysToRetire(tx, from.masterKey)) {
    const id = newId()
    const sealed = to.secrets.seal(JSON.stringify(key), retiredPlace(id))
    await tx.insertInto('retiredKeys').values({ id, purpose: key.purpose, sealed }).execute()
  }
  await forgetVerification(queryOf(tx))
  await renewCopyMark(queryOf(tx), verificationKey(from.masterKey), verificationKey(to.masterKey))
  await sql`update installation set master_key_id = ${next}`.execute(tx)
  return { resealed }
}

/** What stays of a master key. Its checkpoints end with the last one, so a leaked key signs no further history. */
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
