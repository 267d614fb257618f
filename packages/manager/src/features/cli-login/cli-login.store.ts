import { sql } from 'kysely'
import type { Queries, Reads, Tx } from '../../platform/postgres/handles.ts'

type LoginStatus = 'pending' | 'approved' | 'denied' | 'fetched' | 'consumed' | 'undelivered'

/** A login, with the fields that are visible to the deciding person and in the audit trail. */
export type CliLogin = {
  id: string
  userCode: string
  tokenName: string
  ipAddress: string
  userAgent: string
  status: LoginStatus
  createdAt: string
  expiresAt: string
  userId: string | null
  accessTokenId: string | null
}

const columns = [
  'id',
  'userCode',
  'tokenName',
  'ipAddress',
  'userAgent',
  'status',
  'createdAt',
  'expiresAt',
  'userId',
  'accessTokenId',
] as const

export type NewLogin = Pick<CliLogin, 'id' | 'userCode' | 'tokenName' | 'ipAddress' | 'userAgent'> & {
  secretHash: Buffer
  publicKey: Buffer
  /** The client network, by which throttles identify the client. */
  network: string
}

const maxPendingPerAddress = 1_000
// At most 100,000 logins are pending, divided into 100 buckets of 1,000. Concurrent starts do not see each other, so
// each bucket has a margin for 50 of them. The definition of the index cli_logins_share_idx contains the number of
// buckets.
const buckets = 100
const maxPendingPerBucket = 950
// A start can delete more logins than it adds, so any excess from concurrent starts disappears quickly.
const dropBatchSize = 10

/**
 * Selects all logins except the newest `keptCount`. The new login counts too, although the statement does not see it
 * yet.
 */
const selectExcess = (keptCount: number) =>
  sql`order by created_at desc, id desc offset ${keptCount - 1} limit ${dropBatchSize}`

/**
 * Inserts a login and deletes the oldest pending logins that exceed the limit per address or the total limit.
 * Reads two ranges of at most 1,000 index entries. Returns undefined if another login already has the code.
 */
export async function insertLogin(
  db: Queries,
  login: NewLogin,
): Promise<{ expiresAt: string; dropped: number } | undefined> {
  const bucket = login.secretHash.readUInt16BE(0) % buckets
  const { rows } = await sql<{ expiresAt: string; dropped: number }>`
    with dropped as (
      delete from cli_logins where id = any (array(
        select id from cli_logins where status = 'pending' and id = any (array(
          (select id from cli_logins where status = 'pending' and network = ${login.network}
            ${selectExcess(maxPendingPerAddress)})
          union all
          (select id from cli_logins where status = 'pending'
            and (get_byte(secret_hash, 0) * 256 + get_byte(secret_hash, 1)) % ${sql.lit(buckets)} = ${bucket}
            ${selectExcess(maxPendingPerBucket)})))
        for update skip locked))
      returning id)
    insert into cli_logins (id, secret_hash, user_code, public_key, token_name, ip_address, network, user_agent)
    values (${login.id}, ${login.secretHash}, ${login.userCode}, ${login.publicKey}, ${login.tokenName},
      ${login.ipAddress}, ${login.network}, ${login.userAgent})
    on conflict (user_code) do nothing
    returning expires_at as "expiresAt", (select count(*)::int from dropped) as dropped`.execute(db)
  return rows[0]
}

/** The data that a poll needs. The flags are computed with the database clock. */
export type PolledLogin = CliLogin & {
  intervalSeconds: number
  sealedToken: Buffer | null
  isExpired: boolean
  isEarly: boolean
  /** The expiry time of the token, or null if the token has been revoked or deleted. */
  tokenExpiresAt: string | null
}

/**
 * Locks the login of a terminal until the transaction ends. Returns false if it is already locked or does not exist.
 */
export async function lockPolledLogin(tx: Tx, secretHash: Buffer): Promise<boolean> {
  const row = await tx
    .selectFrom('cliLogins')
    .select('id')
    .where('secretHash', '=', secretHash)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Reads the login after locking it. A separate statement is needed: the statement that waited for the lock would not
 * see the decision that was just committed.
 */
export function findPolledLogin(tx: Tx, secretHash: Buffer): Promise<PolledLogin | undefined> {
  return tx
    .selectFrom('cliLogins')
    .select(columns)
    .select(['intervalSeconds', 'sealedToken'])
    .select([
      sql<boolean>`expires_at <= clock_timestamp()`.as('isExpired'),
      sql<boolean>`coalesce(clock_timestamp() < last_polled_at + make_interval(secs => interval_seconds), false)`.as(
        'isEarly',
      ),
      sql<string | null>`(
        select t.expires_at from personal_access_tokens t where t.id = access_token_id and not t.revoked
      )`.as('tokenExpiresAt'),
    ])
    .where('secretHash', '=', secretHash)
    .executeTakeFirst() as Promise<PolledLogin | undefined>
}

export async function recordPoll(tx: Tx, id: string, intervalSeconds: number): Promise<void> {
  await tx
    .updateTable('cliLogins')
    .set({ lastPolledAt: sql`clock_timestamp()`, intervalSeconds })
    .where('id', '=', id)
    .execute()
}

/** Removes the token from the login, because a response is delivering it. */
export async function markFetched(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('cliLogins')
    .set({ status: 'fetched', fetchedAt: sql`clock_timestamp()`, sealedToken: null })
    .where('id', '=', id)
    .execute()
}

/** Records that the response was sent. Returns false if the token was revoked first. */
export async function markConsumed(db: Queries, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('cliLogins')
    .set({ status: 'consumed' })
    .where('id', '=', id)
    .where('status', '=', 'fetched')
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** The data that the page shows. The age is computed with the database clock. */
export type DisplayedLogin = CliLogin & { publicKey: Buffer; isExpired: boolean; ageSeconds: number }

export function findByCode(db: Reads, userCode: string): Promise<DisplayedLogin | undefined> {
  return db
    .selectFrom('cliLogins')
    .select(columns)
    .select('publicKey')
    .select([
      sql<boolean>`expires_at <= now()`.as('isExpired'),
      sql<number>`extract(epoch from now() - created_at)::float8`.as('ageSeconds'),
    ])
    .where('userCode', '=', userCode)
    .executeTakeFirst() as Promise<DisplayedLogin | undefined>
}

type Decision =
  | { status: 'denied'; userId: string }
  | { status: 'approved'; userId: string; accessTokenId: string; sealedToken: Buffer }

/**
 * Approves or denies a pending login. Returns the login before and after the change, or null if the login has
 * expired or was already decided.
 */
export async function decideLogin(tx: Tx, id: string, decision: Decision): Promise<DecidedLogin | null> {
  // The row is locked first: after a lock wait, PostgreSQL does not evaluate the time condition again if the
  // row is unchanged.
  const before = await tx
    .selectFrom('cliLogins')
    .select(columns)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  const after = await tx
    .updateTable('cliLogins')
    .set(decision)
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .where('expiresAt', '>', sql<string>`clock_timestamp()`)
    .returning(columns)
    .executeTakeFirst()
  return before === undefined || after === undefined ? null : ({ before, after } as DecidedLogin)
}
type DecidedLogin = { before: CliLogin; after: CliLogin }

/** Returns the expiry time of a token with this lifetime, by the database clock. */
export async function computeExpiry(tx: Tx, days: number): Promise<string> {
  const { rows } = await sql<{ at: string }>`select now() + make_interval(days => ${days}) as at`.execute(tx)
  return (rows[0] as { at: string }).at
}

/** Returns and locks logins whose token was not fetched in time, or whose delivery was not confirmed. */
export function lockUndeliveredLogins(tx: Tx, limit: number): Promise<CliLogin[]> {
  return tx
    .selectFrom('cliLogins')
    .select(columns)
    .where((eb) =>
      eb.or([
        eb('status', '=', 'approved').and('expiresAt', '<=', sql<string>`now()`),
        eb('status', '=', 'fetched').and('fetchedAt', '<=', sql<string>`now() - interval '1 minute'`),
      ]),
    )
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute() as Promise<CliLogin[]>
}

/** Returns and locks a login whose response failed, or undefined if it is already settled. */
export function lockFetchedLogin(tx: Tx, id: string): Promise<CliLogin | undefined> {
  return tx
    .selectFrom('cliLogins')
    .select(columns)
    .where('id', '=', id)
    .where('status', '=', 'fetched')
    .forUpdate()
    .executeTakeFirst() as Promise<CliLogin | undefined>
}

export async function markUndelivered(tx: Tx, logins: readonly CliLogin[]): Promise<void> {
  const ids = logins.map(({ id }) => id)
  await tx
    .updateTable('cliLogins')
    .set({ status: 'undelivered', sealedToken: null })
    .where('id', 'in', ids)
    .execute()
}

/** Marks logins as consumed if their token has been used, because a used token was certainly delivered. */
export async function markUsed(db: Queries): Promise<void> {
  await sql`
    update cli_logins l set status = 'consumed' from personal_access_tokens t
    where l.status = 'fetched' and t.id = l.access_token_id and t.last_used_at is not null`.execute(db)
}

/** Deletes some of the logins that expired more than an hour ago. Returns the number of deleted logins. */
export async function deleteExpiredLogins(db: Queries, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from cli_logins where id in (
      select id from cli_logins where expires_at <= now() - interval '1 hour' and status not in ('approved', 'fetched')
      order by expires_at limit ${limit} for update skip locked)`.execute(db)
  return Number(numAffectedRows ?? 0n)
}
