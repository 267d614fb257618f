import { sql } from 'kysely'
import { buildIsActiveSql } from '../../platform/postgres/active-users.ts'
import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import type { Queries, Reads, Tx } from '../../platform/postgres/handles.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPage } from '../../platform/lists/page.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

export type PersonalAccessToken = RevisionFields & {
  id: string
  userId: string
  name: string
  tokenPrefix: string
  expiresAt: string | null
  revoked: boolean
  lastUsedAt: string | null
  createdAt: string
}

const columns = [
  'id',
  'userId',
  'name',
  'tokenPrefix',
  'expiresAt',
  'revoked',
  'lastUsedAt',
  'createdAt',
  ...revisionColumns,
] as const

export const accessTokenFields: ListFields = {
  id: { column: 'id', match: 'id' },
  name: { column: 'name', match: 'text' },
  expiresAt: { column: 'expiresAt', match: 'time', isNullable: true },
  revoked: { column: 'revoked', match: 'boolean' },
  lastUsedAt: { column: 'lastUsedAt', match: 'time', isNullable: true },
  createdAt: { column: 'createdAt', match: 'time' },
}

/** Returns a page of one user's tokens. */
export function listUserTokens(db: Reads, userId: string, page: Page): Promise<PersonalAccessToken[]> {
  const where = sql<boolean>`personal_access_tokens.user_id = ${userId}`
  return fetchPage(db, { table: 'personalAccessTokens', columns, page, where })
}

/**
 * Returns a page of the usable tokens that expire within `days` days. `userId` restricts the page to one user unless it
 * is null.
 */
export function listExpiringTokens(
  db: Reads,
  userId: string | null,
  days: number,
  page: Page,
): Promise<PersonalAccessToken[]> {
  const expiresSoon = sql<boolean>`not personal_access_tokens.revoked and personal_access_tokens.expires_at > now()
    and personal_access_tokens.expires_at <= now() + make_interval(days => ${days}::int)`
  const where =
    userId === null
      ? expiresSoon
      : sql<boolean>`${expiresSoon} and personal_access_tokens.user_id = ${userId}`
  return fetchPage(db, { table: 'personalAccessTokens', columns, page, where })
}

/** Returns at most `limit` tokens, newest first. `before` and `userId` restrict the list unless they are null. */
export function listTokensBefore(
  db: Reads,
  userId: string | null,
  before: string | null,
  limit: number,
): Promise<PersonalAccessToken[]> {
  return db
    .selectFrom('personalAccessTokens')
    .select(columns)
    .$if(userId !== null, (query) => query.where('userId', '=', userId as string))
    .$if(before !== null, (query) => query.where('id', '<', before as string))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Returns whether a token exists that is as new as `id` or newer. */
export async function hasTokenAtOrAfter(db: Reads, userId: string | null, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('personalAccessTokens')
    .select('id')
    .$if(userId !== null, (query) => query.where('userId', '=', userId as string))
    .where('id', '>=', id)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Counts the tokens. The query reads every token, so it runs only when the client requests the number. */
export async function countTokens(db: Reads, userId: string | null): Promise<number> {
  const row = await db
    .selectFrom('personalAccessTokens')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .$if(userId !== null, (query) => query.where('userId', '=', userId as string))
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

export function insertToken(
  tx: Tx,
  token: {
    id: string
    userId: string
    name: string
    tokenPrefix: string
    hash: string
    expiresAt: string | null
  },
): Promise<PersonalAccessToken> {
  return tx.insertInto('personalAccessTokens').values(token).returning(columns).executeTakeFirstOrThrow()
}

/** Locks a token until the transaction ends. If `userId` is given, finds only this user's tokens. */
export function lockToken(
  tx: Tx,
  id: string,
  userId: string | null,
): Promise<PersonalAccessToken | undefined> {
  return tx
    .selectFrom('personalAccessTokens')
    .select(columns)
    .where('id', '=', id)
    .$if(userId !== null, (query) => query.where('userId', '=', userId as string))
    .forUpdate()
    .executeTakeFirst()
}

export function revokeToken(tx: Tx, id: string): Promise<PersonalAccessToken> {
  return tx
    .updateTable('personalAccessTokens')
    .set({ revoked: true })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function deleteToken(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('personalAccessTokens').where('id', '=', id).execute()
}

/**
 * Updates the last use of many tokens in one statement. Locked rows are skipped; their next use is written
 * instead.
 */
export async function writeLastUses(db: Queries, uses: ReadonlyMap<string, string>): Promise<void> {
  await sql`
    with used as (
      select t.id, u.used_at from unnest(${[...uses.keys()]}::uuid[], ${[...uses.values()]}::timestamptz[]) as u (id, used_at)
      join personal_access_tokens t on t.id = u.id
      where t.last_used_at is null or t.last_used_at < u.used_at
      for no key update of t skip locked
    )
    update personal_access_tokens t set last_used_at = used.used_at from used where t.id = used.id`.execute(
    db,
  )
}

/** The fields of a token that authentication needs, including its owner. */
export type TokenLogin = {
  id: string
  hash: string
  /** Whether the token is neither revoked nor expired, by the database clock, and its owner is active. */
  usable: boolean
  /**
   * Whether an older installation issued the token. The last characters of such a token are not a checksum.
   */
  unchecked: boolean
  user: {
    id: string
    externalName: string
    externalUsername: string
    externalEmail: string
    role: string
  }
}

type LoginRow = Omit<TokenLogin, 'user'> & {
  user_id: string
  external_name: string
  external_username: string
  external_email: string
  role: string
}

// The statement costs two index lookups per token, regardless of the number of tokens and users.
const loginStatement: PreparedStatement = {
  name: 'access-token-logins',
  kind: 'read',
  text: `
    select wanted.position::int, token.id, token.hash, token.usable and u.is_active as usable, token.unchecked,
      u.id as user_id, u.external_name, u.external_username, u.external_email, u.role
    from unnest($1::text[]) with ordinality as wanted (prefix, position)
    cross join lateral (
      select t.id, t.hash, t.user_id, not t.has_check as unchecked,
        not t.revoked and (t.expires_at is null or t.expires_at > now()) as usable
      from personal_access_tokens t where t.token_prefix = wanted.prefix limit 1
    ) token
    cross join lateral (
      select users.id, external_name, external_username, external_email, role,
        ${buildIsActiveSql('users')} as is_active
      from users where users.id = token.user_id limit 1
    ) u`,
}

/** Returns the token and its owner for each prefix, in the same order, or null if the prefix is unknown. */
export async function readTokenLogins(
  run: RunPrepared,
  prefixes: readonly string[],
): Promise<(TokenLogin | null)[]> {
  const rows = await run<LoginRow & { position: number }>(loginStatement, [prefixes])
  return orderByPosition<LoginRow>(prefixes.length, rows).map((row) => row && toLogin(row))
}

const toLogin = ({ id, hash, usable, unchecked, ...user }: LoginRow): TokenLogin => ({
  id,
  hash,
  usable,
  unchecked,
  user: {
    id: user.user_id,
    externalName: user.external_name,
    externalUsername: user.external_username,
    externalEmail: user.external_email,
    role: user.role,
  },
})

// The order makes the partial index on these tokens the cheapest plan, regardless of the number of other tokens.
const uncheckedStatement: PreparedStatement = {
  name: 'access-tokens-unchecked',
  kind: 'read',
  text: 'select id from personal_access_tokens where not has_check order by id limit 1',
}

/** Returns whether a token of an older installation exists. */
export const hasUncheckedTokens = async (run: RunPrepared): Promise<boolean> =>
  (await run(uncheckedStatement, [])).length > 0
