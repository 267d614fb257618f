// The one master key of an installation: whose key this database was made with, what a former one left behind, and how
// it is exchanged for another.
import { type KeyObject, createSecretKey } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { CheckpointKey } from '../audit/checkpoint-chain.ts'
import { renewCopyMark } from '../audit/checkpoint-copies.ts'
import { queryOf } from '../audit/rows.ts'
import { forgetVerification, verificationKey } from '../audit/verification-marks.ts'
import type { Db, Tx } from '../db/database.ts'
import { unavailable } from '../errors.ts'
import { newId } from '../ids.ts'
import { createSigningKey, createVerifyingKey, deriveSecretKey, masterKeyId } from './keys.ts'
import type { Secrets } from './secrets.ts'
import { type SealedColumns, resealAll } from './sealed-columns.ts'

/** Former keys that still verify: of personal access tokens, and of checkpoints. */
export type RetiredKeys = { checkKeys: readonly KeyObject[]; checkpointKeys: readonly CheckpointKey[] }
export const noRetiredKeys: RetiredKeys = { checkKeys: [], checkpointKeys: [] }

/**
 * Throws unless the database belongs to this master key; the first use makes it so. A database older than this check
 * belongs to the key that signed its last checkpoint.
 */
export async function assertMasterKey(db: Db, masterKey: Buffer): Promise<void> {
  const own = masterKeyId(masterKey)
  const found = (await readKeyId(db)) ?? (await claim(db, own, masterKey))
  if (found === own) return
  throw new Error(
    `SVC_MASTER_KEY is not the master key of this database (which has ${found ?? 'another one'}, not ${own}): ` +
      'start with the former key, or change it with `manager keys exchange-master`',
  )
}

/** The same for code that seals a secret in this transaction: an exchange waits for its end, or comes before it. */
export type LockMasterKey = (tx: Tx) => Promise<void>
export const createLockMasterKey =
  (masterKey: Buffer): LockMasterKey =>
  async (tx) => {
    const own = masterKeyId(masterKey)
    if ((await readKeyId(tx)) === null) await claim(tx, own, masterKey)
    if ((await readKeyId(tx, sql`for share`)) !== own)
      throw unavailable('the master key was exchanged; this process must be restarted with the new one')
  }

async function readKeyId(db: Db | Tx, lock: RawBuilder<unknown> = sql``): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`select master_key_id as id from installation ${lock}`.execute(db)
  return rows[0]?.id ?? null
}

async function claim(db: Db | Tx, own: string, masterKey: Buffer): Promise<string | null> {
  const { keyId } = createSigningKey(masterKey, 'audit-checkpoint')
  await sql`
    insert into installation (master_key_id)
    select ${own} where not exists (
      select from (select key_id from audit_checkpoints order by seq desc limit 1) as last
      where last.key_id <> ${keyId})
    on conflict do nothing`.execute(db)
  return readKeyId(db)
}

/** Reads what former master keys left behind. */
export async function loadRetiredKeys(db: Db, secrets: Secrets): Promise<RetiredKeys> {
  const rows = await db.selectFrom('retiredKeys').select(['id', 'purpose', 'sealed']).orderBy('id').execute()
  const opened = rows.map(({ id, sealed, purpose }) => {
    const key = JSON.parse(secrets.open(sealed, placeOf(id))) as RetiredKey
    // Sealed too, so that a writer to the database cannot use a key for another purpose.
    if (key.purpose !== purpose)
      throw new Error(`the retired key ${id} was changed: it is not for ${purpose}`)
    return key
  })
  return {
    checkKeys: opened.flatMap((key) =>
      key.purpose === 'access-token-check' ? [createSecretKey(Buffer.from(key.secret, 'base64'))] : [],
    ),
    checkpointKeys: opened.flatMap((key) =>
      key.purpose === 'audit-checkpoint'
        ? [{ ...createVerifyingKey(Buffer.from(key.publicKey, 'base64')), last: key.last }]
        : [],
    ),
  }
}

type RetiredKey =
  | { purpose: 'access-token-check'; secret: string }
  | { purpose: 'audit-checkpoint'; publicKey: string; last: { seq: number; hash: string } }

const placeOf = (id: string) => ({ table: 'retired_keys', column: 'sealed', id })

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
  for (const key of await retiredKeys(tx, from.masterKey)) {
    const id = newId()
    const sealed = to.secrets.seal(JSON.stringify(key), placeOf(id))
    await tx.insertInto('retiredKeys').values({ id, purpose: key.purpose, sealed }).execute()
  }
  await forgetVerification(queryOf(tx))
  await renewCopyMark(queryOf(tx), verificationKey(from.masterKey), verificationKey(to.masterKey))
  await sql`update installation set master_key_id = ${next}`.execute(tx)
  return { resealed }
}

/** What stays of a master key. Its checkpoints end with the last one, so a leaked key signs no further history. */
async function retiredKeys(tx: Tx, masterKey: Buffer): Promise<RetiredKey[]> {
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
