import { sql } from 'kysely'
import type { Queries, Reads, Tx } from '../../platform/postgres/handles.ts'

type LoginStatus = 'pending' | 'approved' | 'denied' | 'fetched' | 'consumed' | 'undelivered'

/** A login as the person who decides sees it, and as the audit trail does. */
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
  /** The client as throttles count it. */
  network: string
}

// Pending logins that an address keeps.
const keptOfAddress = 1_000
// All pending logins are at most 100,000, a hundredth of them in each share. Concurrent starts do not see each other: the
// difference to 1,000 leaves room for fifty of them in one share.
const shares = 100
const keptOfShare = 950
// A start drops more than it adds, so what concurrent starts left over is gone soon.
const droppedAtOnce = 10

/** Those beyond the newest; a new login, which the statement does not see yet, is one of those that are kept. */
const beyond = (kept: number) =>
  sql`order by created_at desc, id desc offset ${kept - 1} limit ${droppedAtOnce}`

/**
 * Inserts a login and drops the oldest pending ones beyond the limits, of its address and of all. Reads two ranges of at
 * most a thousand index entries. Undefined when another login has the code.
 */
export async function insertLogin(
  db: Queries,
  login: NewLogin,
): Promise<{ expiresAt: string; dropped: number } | undefined> {
  const share = login.secretHash.readUInt16BE(0) % shares
  const { rows } = await sql<{ expiresAt: string; dropped: number }>`
    with dropped as (
      delete from cli_logins where id = any (array(
        select id from cli_logins where status = 'pending' and id = any (array(
          (select id from cli_logins where status = 'pending' and network = ${login.network} ${beyond(keptOfAddress)})
          union all
          (select id from cli_logins where status = 'pending'
            and (get_byte(secret_hash, 0) * 256 + get_byte(secret_hash, 1)) % 100 = ${share} ${beyond(keptOfShare)})))
        for update skip locked))
      returning id)
    insert into cli_logins (id, secret_hash, user_code, public_key, token_name, ip_address, network, user_agent)
    values (${login.id}, ${login.secretHash}, ${login.userCode}, ${login.publicKey}, ${login.tokenName},
      ${login.ipAddress}, ${login.network}, ${login.userAgent})
    on conflict (user_code) do nothing
    returning expires_at as "expiresAt", (select count(*)::int from dropped) as dropped`.execute(db)
  return rows[0]
}

/** What a poll has to know; both flags are by the clock of the database. */
export type PolledLogin = CliLogin & {
  intervalSeconds: number
  sealedToken: Buffer | null
  isOver: boolean
  isEarly: boolean
  /** Of the token; null when it was revoked or deleted meanwhile. */
  tokenExpiresAt: string | null
}

/** Locks the login of a terminal until the transaction ends; false when somebody else has it, or when there is none. */
export async function lockPolled(tx: Tx, secretHash: Buffer): Promise<boolean> {
  const row = await tx
    .selectFrom('cliLogins')
    .select('id')
    .where('secretHash', '=', secretHash)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  return row !== undefined
}

/** Read after the lock and not with it: what a decision has just made is not visible to the statement that met it. */
export function findPolled(tx: Tx, secretHash: Buffer): Promise<PolledLogin | undefined> {
  return tx
    .selectFrom('cliLogins')
    .select(columns)
    .select(['intervalSeconds', 'sealedToken'])
    .select([
      sql<boolean>`expires_at <= clock_timestamp()`.as('isOver'),
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

export async function notePoll(tx: Tx, id: string, intervalSeconds: number): Promise<void> {
  await tx
    .updateTable('cliLogins')
    .set({ lastPolledAt: sql`clock_timestamp()`, intervalSeconds })
    .where('id', '=', id)
    .execute()
}

/** Takes the token out; the response that carries it is on its way. */
export async function noteFetched(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('cliLogins')
    .set({ status: 'fetched', fetchedAt: sql`clock_timestamp()`, sealedToken: null })
    .where('id', '=', id)
    .execute()
}

/** The response was sent; false when the token was revoked before that was known. */
export async function noteConsumed(db: Queries, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('cliLogins')
    .set({ status: 'consumed' })
    .where('id', '=', id)
    .where('status', '=', 'fetched')
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** What the page shows; the age is by the clock of the database. */
export type ShownLogin = CliLogin & { publicKey: Buffer; isOver: boolean; ageSeconds: number }

export function findByCode(db: Reads, userCode: string): Promise<ShownLogin | undefined> {
  return db
    .selectFrom('cliLogins')
    .select(columns)
    .select('publicKey')
    .select([
      sql<boolean>`expires_at <= now()`.as('isOver'),
      sql<number>`extract(epoch from now() - created_at)::float8`.as('ageSeconds'),
    ])
    .where('userCode', '=', userCode)
    .executeTakeFirst() as Promise<ShownLogin | undefined>
}

type Decision =
  | { status: 'denied'; userId: string }
  | { status: 'approved'; userId: string; accessTokenId: string; sealedToken: Buffer }

/**
 * Decides about a login that waits and is not over, and returns it before and after; null when it is not, or when another
 * decision was first.
 */
export async function decide(tx: Tx, id: string, decision: Decision): Promise<Decided | null> {
  // Locked first: a condition on the time is not looked at again after a wait for a row that stays the same.
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
  return before === undefined || after === undefined ? null : ({ before, after } as Decided)
}
type Decided = { before: CliLogin; after: CliLogin }

/** When a token ends that lives so many days, by the clock of the database. */
export async function daysFromNow(tx: Tx, days: number): Promise<string> {
  const { rows } = await sql<{ at: string }>`select now() + make_interval(days => ${days}) as at`.execute(tx)
  return (rows[0] as { at: string }).at
}

/** Logins whose token did not arrive: never fetched in time, or the end of its response never noted. */
export function lockUndelivered(tx: Tx, limit: number): Promise<CliLogin[]> {
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

/** One login whose response failed; undefined when it is settled already. */
export function lockFetched(tx: Tx, id: string): Promise<CliLogin | undefined> {
  return tx
    .selectFrom('cliLogins')
    .select(columns)
    .where('id', '=', id)
    .where('status', '=', 'fetched')
    .forUpdate()
    .executeTakeFirst() as Promise<CliLogin | undefined>
}

export async function noteUndelivered(tx: Tx, logins: readonly CliLogin[]): Promise<void> {
  const ids = logins.map(({ id }) => id)
  await tx
    .updateTable('cliLogins')
    .set({ status: 'undelivered', sealedToken: null })
    .where('id', 'in', ids)
    .execute()
}

/** A token that is used has arrived, whatever is known of its response. */
export async function noteUsed(db: Queries): Promise<void> {
  await sql`
    update cli_logins l set status = 'consumed' from personal_access_tokens t
    where l.status = 'fetched' and t.id = l.access_token_id and t.last_used_at is not null`.execute(db)
}

/** Deletes some of those that have been over for an hour; returns how many. */
export async function deleteOld(db: Queries, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from cli_logins where id in (
      select id from cli_logins where expires_at <= now() - interval '1 hour' and status not in ('approved', 'fetched')
      order by expires_at limit ${limit} for update skip locked)`.execute(db)
  return Number(numAffectedRows ?? 0n)
}
