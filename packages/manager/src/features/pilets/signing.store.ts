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
  /** How many packages it has signed. */
  packages: number
}

export const privateKeyPlace = { table: 'pilet_signing_keys', column: 'private_key' }
export const privateKeyColumn: SealedColumns = { table: 'pilet_signing_keys', columns: ['private_key'] }

const columns = ['id', 'keyId', 'publicKey', 'privateKey', 'isActive'] as const

/** The key that signs; undefined in a new installation. */
export function findActiveKey(db: Reads): Promise<SigningKeyRow | undefined> {
  return db.selectFrom('piletSigningKeys').select(columns).where('isActive', '=', true).executeTakeFirst()
}

export function findKeyById(db: Reads, keyId: string): Promise<SigningKeyRow | undefined> {
  return db.selectFrom('piletSigningKeys').select(columns).where('keyId', '=', keyId).executeTakeFirst()
}

/** The whole ring, the oldest first. */
export function findKeys(db: Reads): Promise<SigningKeyRow[]> {
  return db.selectFrom('piletSigningKeys').select(columns).orderBy('createdAt').orderBy('id').execute()
}

/** The ring for people; counting costs by the number of packages, in an index. */
export async function listKeys(db: Reads): Promise<ListedKey[]> {
  const { rows } = await sql<ListedKey>`
    select key_id, is_active, created_at, activated_at,
      (select count(*)::int from pilet_packages p where p.key_id = k.key_id) as packages
    from pilet_signing_keys k order by created_at, id`.execute(db)
  return rows
}

/** How many packages have no signature, and how many of the others have no statement by the same key. */
export async function countUnsigned(db: Reads): Promise<{ unsigned: number; unstated: number }> {
  const { rows } = await sql<{ unsigned: number; unstated: number }>`
    select count(*) filter (where key_id is null)::int as unsigned,
      count(*) filter (where key_id is not null)::int as unstated
    from pilet_packages where key_id is null or statement_key_id is distinct from key_id`.execute(db)
  return rows[0] ?? { unsigned: 0, unstated: 0 }
}

/** Until the transaction ends nobody else changes which keys there are; reading goes on. */
export async function lockRing(tx: Tx): Promise<void> {
  await sql`lock table pilet_signing_keys in share row exclusive mode`.execute(tx)
}

/** Adds a key to the ring. */
export function insertKey(tx: Tx, row: SigningKeyRow): Promise<SigningKeyRow> {
  return tx
    .insertInto('piletSigningKeys')
    .values({ ...row, activatedAt: row.isActive ? sql`now()` : null })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** The former one goes first: there is never a second one, for an index. Readers see both changes or neither. */
export async function activateKey(tx: Tx, id: string): Promise<void> {
  await tx.updateTable('piletSigningKeys').set({ isActive: false }).where('isActive', '=', true).execute()
  await tx
    .updateTable('piletSigningKeys')
    .set({ isActive: true, activatedAt: sql`now()` })
    .where('id', '=', id)
    .execute()
}

/** Violates a foreign key while a package is signed with it. */
export async function deleteKey(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('piletSigningKeys').where('id', '=', id).execute()
}
