import { sql } from 'kysely'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'
import type { SealedColumns } from '../../platform/secrets/sealed-columns.ts'

export type SigningKeyRow = {
  id: string
  keyId: string
  publicKey: Buffer
  privateKey: Buffer
  isActive: boolean
}
export type ListedKey = {
  keyId: string
  isActive: boolean
  createdAt: string
  activatedAt: string | null
  /** Number of packages signed with the key. */
  packages: number
}

export const privateKeyLocation = { table: 'pilet_signing_keys', column: 'private_key' }
export const privateKeyColumn: SealedColumns = { table: 'pilet_signing_keys', columns: ['private_key'] }

const columns = ['id', 'keyId', 'publicKey', 'privateKey', 'isActive'] as const

/** Returns the active key, or undefined in a new installation. */
export function findActiveKey(db: Reads): Promise<SigningKeyRow | undefined> {
  return db.selectFrom('piletSigningKeys').select(columns).where('isActive', '=', true).executeTakeFirst()
}

export function findKeyById(db: Reads, keyId: string): Promise<SigningKeyRow | undefined> {
  return db.selectFrom('piletSigningKeys').select(columns).where('keyId', '=', keyId).executeTakeFirst()
}

/** Returns all keys, oldest first. */
export function findKeys(db: Reads): Promise<SigningKeyRow[]> {
  return db.selectFrom('piletSigningKeys').select(columns).orderBy('createdAt').orderBy('id').execute()
}

/**
 * Returns the keys for display. Counting their packages scans an index, so the cost grows with the number of packages.
 */
export async function listKeys(db: Reads): Promise<ListedKey[]> {
  const { rows } = await sql<ListedKey>`
    select key_id, is_active, created_at, activated_at,
      (select count(*)::int from pilet_packages p where p.key_id = k.key_id) as packages
    from pilet_signing_keys k order by created_at, id`.execute(db)
  return rows
}

/** Counts packages without a signature, and signed packages whose key has not signed a statement. */
export async function countUnsigned(db: Reads): Promise<{ unsigned: number; unstated: number }> {
  const { rows } = await sql<{ unsigned: number; unstated: number }>`
    select count(*) filter (where key_id is null)::int as unsigned,
      count(*) filter (where key_id is not null)::int as unstated
    from pilet_packages where key_id is null or statement_key_id is distinct from key_id`.execute(db)
  return rows[0] ?? { unsigned: 0, unstated: 0 }
}

/** Blocks other changes to the ring until the transaction ends. Reads continue. */
export async function lockRing(tx: Tx): Promise<void> {
  await sql`lock table pilet_signing_keys in share row exclusive mode`.execute(tx)
}

export function insertKey(tx: Tx, row: SigningKeyRow): Promise<SigningKeyRow> {
  return tx
    .insertInto('piletSigningKeys')
    .values({ ...row, activatedAt: row.isActive ? sql`now()` : null })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/**
 * Activates a key. The previous key is deactivated first, because a unique index permits only one active key. Readers
 * see both changes or neither.
 */
export async function activateKey(tx: Tx, id: string): Promise<void> {
  await tx.updateTable('piletSigningKeys').set({ isActive: false }).where('isActive', '=', true).execute()
  await tx
    .updateTable('piletSigningKeys')
    .set({ isActive: true, activatedAt: sql`now()` })
    .where('id', '=', id)
    .execute()
}

/** Deletes a key. The foreign key is violated if a package is still signed with the deleted key. */
export async function deleteKey(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('piletSigningKeys').where('id', '=', id).execute()
}
