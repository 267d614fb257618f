import { sql } from 'kysely'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPage } from '../../platform/lists/page.ts'
import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import type { Queries, Reads, Tx } from '../../platform/postgres/handles.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

/** A token of an identity provider. The hash is never read. */
export type ScimToken = RevisionFields & {
  id: string
  name: string
  tokenPrefix: string
  creatorId: string
  expiresAt: string
  lastUsedAt: string | null
  revokedAt: string | null
  createdAt: string
}

const columns = [
  'id',
  'name',
  'tokenPrefix',
  'creatorId',
  'expiresAt',
  'lastUsedAt',
  'revokedAt',
  'createdAt',
  ...revisionColumns,
] as const

export const scimTokenFields: ListFields = {
  id: { column: 'id', match: 'id' },
  name: { column: 'name', match: 'text' },
  expiresAt: { column: 'expiresAt', match: 'time' },
  lastUsedAt: { column: 'lastUsedAt', match: 'time', isNullable: true },
  revokedAt: { column: 'revokedAt', match: 'time', isNullable: true },
  createdAt: { column: 'createdAt', match: 'time' },
}

/** Returns a page of the tokens, including expired and revoked ones. */
export const listTokens = (db: Reads, page: Page): Promise<ScimToken[]> =>
  fetchPage(db, { table: 'scimTokens', columns, page })

/** Inserts a token. It expires after `days` days, by the clock of the database, or at `expiresAt`. */
export function insertToken(
  tx: Tx,
  token: Pick<ScimToken, 'id' | 'name' | 'tokenPrefix' | 'creatorId' | 'expiresAt'> & { tokenHash: Buffer },
): Promise<ScimToken> {
  return tx.insertInto('scimTokens').values(token).returning(columns).executeTakeFirstOrThrow()
}

/** Returns the number of tokens that are neither expired nor revoked, at most `limit`. */
export async function countUsableTokens(tx: Tx, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from scim_tokens where revoked_at is null and expires_at > now() limit ${limit}) usable`.execute(
    tx,
  )
  return rows[0]?.count ?? 0
}

export function lockToken(tx: Tx, id: string): Promise<ScimToken | undefined> {
  return tx.selectFrom('scimTokens').select(columns).where('id', '=', id).forUpdate().executeTakeFirst()
}

export function revokeToken(tx: Tx, id: string): Promise<ScimToken> {
  return tx
    .updateTable('scimTokens')
    .set({ revokedAt: sql`now()`, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** A usable token. */
export type UsableToken = { id: string; name: string }

const findByHashStatement: PreparedStatement = {
  name: 'scim-tokens-by-hash',
  kind: 'read',
  text: `
    select wanted.position::int, found.id, found.name
    from unnest($1::bytea[]) with ordinality as wanted (token_hash, position)
    cross join lateral (
      select t.id, t.name from scim_tokens t
      where t.token_hash = wanted.token_hash and t.revoked_at is null and t.expires_at > now() limit 1
    ) found`,
}

/** Returns the usable tokens in the order of the hashes; null for an unknown, expired or revoked token. */
export async function readUsableTokens(
  run: RunPrepared,
  tokenHashes: readonly Buffer[],
): Promise<(UsableToken | null)[]> {
  const rows = await run<UsableToken & { position: number }>(findByHashStatement, [tokenHashes])
  return orderByPosition<UsableToken>(tokenHashes.length, rows)
}

/**
 * Returns the creator of the token if it is still usable, or null. Until the transaction ends, the token cannot be revoked.
 */
export async function lockUsableToken(tx: Tx, id: string): Promise<{ creatorId: string } | null> {
  const row = await tx
    .selectFrom('scimTokens')
    .select('creatorId')
    .where('id', '=', id)
    .where('revokedAt', 'is', null)
    .where('expiresAt', '>', sql<string>`now()`)
    .forKeyShare()
    .executeTakeFirst()
  return row ?? null
}

/** Records a use, unless a later one is recorded already. A locked row is skipped; its next use is recorded instead. */
export async function writeLastUse(db: Queries, id: string, usedAt: string): Promise<void> {
  await sql`
    update scim_tokens set last_used_at = ${usedAt}::timestamptz where id = (
      select id from scim_tokens where id = ${id} and (last_used_at is null or last_used_at < ${usedAt}::timestamptz)
      for no key update skip locked)`.execute(db)
}
