// The one master key of an installation: which key this database belongs to.
import { type RawBuilder, sql } from 'kysely'
import type { Db, Queries, Reads, Tx } from '../postgres/handles.ts'
import { unavailable } from '../errors.ts'
import { createSigningKey, masterKeyId } from './keys.ts'

/**
 * Throws unless the database belongs to this master key; the first use makes it so. A database older than this check
 * belongs to the key that signed its last checkpoint.
 */
export async function assertMasterKey(db: Db, masterKey: Buffer): Promise<void> {
  const own = masterKeyId(masterKey)
  const found = (await readKeyId(db.read)) ?? (await claim(db.idempotent, own, masterKey))
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

/** The id of the key that the database belongs to; null before its first use. */
export async function readKeyId(db: Reads, lock: RawBuilder<unknown> = sql``): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`select master_key_id as id from installation ${lock}`.execute(db)
  return rows[0]?.id ?? null
}

async function claim(db: Queries, own: string, masterKey: Buffer): Promise<string | null> {
  const { keyId } = createSigningKey(masterKey, 'audit-checkpoint')
  await sql`
    insert into installation (master_key_id)
    select ${own} where not exists (
      select from (select key_id from audit_checkpoints order by seq desc limit 1) as last
      where last.key_id <> ${keyId})
    on conflict do nothing`.execute(db)
  return readKeyId(db)
}
