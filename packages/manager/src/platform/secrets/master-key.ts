// Checks that the database belongs to the master key of the installation.
import { type RawBuilder, sql } from 'kysely'
import type { Db, Queries, Reads, Tx } from '../postgres/handles.ts'
import { unavailable } from '../errors.ts'
import { createSigningKey, computeMasterKeyId } from './keys.ts'

/**
 * Throws unless the database belongs to this master key. On first use, the database is assigned to the key. A database
 * older than this check belongs to the key that signed its last checkpoint.
 */
export async function assertMasterKey(db: Db, masterKey: Buffer): Promise<void> {
  const ownKeyId = computeMasterKeyId(masterKey)
  const storedKeyId = (await readKeyId(db.read)) ?? (await claimDatabase(db.idempotent, ownKeyId, masterKey))
  if (storedKeyId === ownKeyId) return
  throw new Error(
    `SVC_MASTER_KEY is not the master key of this database (the database has ${storedKeyId ?? 'another key'}, not ${ownKeyId}): ` +
      'start with the previous key, or replace the master key with `manager keys exchange-master`',
  )
}

/** Checks the master key in a transaction that seals a secret; a key rotation then waits for the transaction to end. */
export type LockMasterKey = (tx: Tx) => Promise<void>
/** The returned function throws 503 if the master key was rotated. */
export const createMasterKeyLock =
  (masterKey: Buffer): LockMasterKey =>
  async (tx) => {
    const ownKeyId = computeMasterKeyId(masterKey)
    if ((await readKeyId(tx)) === null) await claimDatabase(tx, ownKeyId, masterKey)
    if ((await readKeyId(tx, sql`for share`)) !== ownKeyId)
      throw unavailable('the master key was rotated; restart this process with the new key')
  }

/** Returns the id of the master key that the database belongs to, or null before its first use. */
export async function readKeyId(db: Reads, lock: RawBuilder<unknown> = sql``): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`select master_key_id as id from installation ${lock}`.execute(db)
  return rows[0]?.id ?? null
}

async function claimDatabase(db: Queries, ownKeyId: string, masterKey: Buffer): Promise<string | null> {
  const { keyId } = createSigningKey(masterKey, 'audit-checkpoint')
  await sql`
    insert into installation (master_key_id)
    select ${ownKeyId} where not exists (
      select from (select key_id from audit_checkpoints order by seq desc limit 1) as last
      where last.key_id <> ${keyId})
    on conflict do nothing`.execute(db)
  return readKeyId(db)
}
