import { sql } from 'kysely'
import { inPlace } from '../../platform/postgres/coalesce.ts'
import type { Queries, Reads, Tx } from '../../platform/postgres/handles.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { pageOf } from '../../platform/lists/page.ts'

export type PersonalAccessToken = {
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
] as const

export const accessTokenFields: ListFields = {
  id: { column: 'id', match: 'id' },
  name: { column: 'name', match: 'text' },
  expiresAt: { column: 'expiresAt', match: 'time' },
  revoked: { column: 'revoked', match: 'boolean' },
  lastUsedAt: { column: 'lastUsedAt', match: 'time' },
  createdAt: { column: 'createdAt', match: 'time' },
}

/** A page of one user's tokens. */
export function listTokensOf(db: Reads, userId: string, page: Page): Promise<PersonalAccessToken[]> {
  const where = sql<boolean>`personal_access_tokens.user_id = ${userId}`
  return pageOf(db, { table: 'personalAccessTokens', columns, page, where })
}

/** `limit` tokens older than `before` (all when null), newest first; of one user, or of everyone when null. */
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

/** True when there is a token as new as `id` or newer. */
export async function hasTokenFrom(db: Reads, userId: string | null, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('personalAccessTokens')
    .select('id')
    .$if(userId !== null, (query) => query.where('userId', '=', userId as string))
    .where('id', '>=', id)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** How many tokens there are; reads all of them, so it runs only when the number is requested. */
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

/** One token, locked until the transaction ends; only the owner's when one is named. */
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

/** Moves the last use of many tokens forward, in one statement. Rows that others have locked wait for the next use. */
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

/** A token as authentication reads it, with its owner. */
export type TokenLogin = {
  id: string
  hash: string
  /** Neither revoked nor expired, by the database's clock. */
  usable: boolean
  /** Of an old install: its last characters are no check of ours. */
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

// Two index lookups per token, for any number of tokens and users.
const loginStatement: PreparedStatement = {
  name: 'access-token-logins',
  kind: 'read',
  text: `
    select wanted.position::int, token.id, token.hash, token.usable, token.unchecked,
      u.id as user_id, u.external_name, u.external_username, u.external_email, u.role
    from unnest($1::text[]) with ordinality as wanted (prefix, position)
    cross join lateral (
      select t.id, t.hash, t.user_id, not t.has_check as unchecked,
        not t.revoked and (t.expires_at is null or t.expires_at > now()) as usable
      from personal_access_tokens t where t.token_prefix = wanted.prefix limit 1
    ) token
    cross join lateral (
      select users.id, external_name, external_username, external_email, role
      from users where users.id = token.user_id limit 1
    ) u`,
}

/** The tokens with these prefixes and their owners, in this order; null where there is none. */
export async function readTokenLogins(
  run: RunPrepared,
  prefixes: readonly string[],
): Promise<(TokenLogin | null)[]> {
  const rows = await run<LoginRow & { position: number }>(loginStatement, [prefixes])
  return inPlace<LoginRow>(prefixes.length, rows).map((row) => row && loginOf(row))
}

const loginOf = ({ id, hash, usable, unchecked, ...user }: LoginRow): TokenLogin => ({
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

// Ordered, so that the index of those tokens is the cheapest way to one, however many others there are.
const uncheckedStatement: PreparedStatement = {
  name: 'access-tokens-unchecked',
  kind: 'read',
  text: 'select id from personal_access_tokens where not has_check order by id limit 1',
}

/** True when there is a token of an old install. */
export const hasUncheckedTokens = async (run: RunPrepared): Promise<boolean> =>
  (await run(uncheckedStatement, [])).length > 0
