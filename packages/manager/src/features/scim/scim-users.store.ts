import { type RawBuilder, sql } from 'kysely'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'
import type { ListPage, ScimResource } from './scim-resource.pure.ts'
import type { ScimUser } from './scim-user.pure.ts'

// Column names differ from attribute names where SCIM nests attributes.
const columns = [
  'userId as id',
  'userName',
  'externalId',
  'displayName',
  'formattedName as formatted',
  'givenName',
  'familyName',
  'emails',
  'active',
  'createdAt',
  'updatedAt',
  'revision',
] as const

type Row = Omit<ScimResource, 'emails'> & { emails: unknown }
const toResource = (row: Row): ScimResource => ({ ...row, emails: row.emails as ScimUser['emails'] })

const toValues = ({ formatted, emails, ...user }: ScimUser) => ({
  userName: user.userName,
  externalId: user.externalId,
  displayName: user.displayName,
  formattedName: formatted,
  givenName: user.givenName,
  familyName: user.familyName,
  emails: JSON.stringify(emails),
  active: user.active,
})

/** Returns a user, or null. */
export async function findUser(db: Reads, id: string): Promise<ScimResource | null> {
  const row = await db.selectFrom('scimUsers').select(columns).where('userId', '=', id).executeTakeFirst()
  return row === undefined ? null : toResource(row)
}

/** Returns a user, or null, and locks the row until the transaction ends. */
export async function lockUser(tx: Tx, id: string): Promise<ScimResource | null> {
  const row = await tx
    .selectFrom('scimUsers')
    .select(columns)
    .where('userId', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row === undefined ? null : toResource(row)
}

export async function insertUser(tx: Tx, id: string, user: ScimUser): Promise<ScimResource> {
  return toResource(
    await tx
      .insertInto('scimUsers')
      .values({ userId: id, ...toValues(user) })
      .returning(columns)
      .executeTakeFirstOrThrow(),
  )
}

export async function updateUser(tx: Tx, id: string, user: ScimUser): Promise<ScimResource> {
  return toResource(
    await tx
      .updateTable('scimUsers')
      .set({ ...toValues(user), updatedAt: sql`now()` })
      .where('userId', '=', id)
      .returning(columns)
      .executeTakeFirstOrThrow(),
  )
}

export async function deleteUser(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('scimUsers').where('userId', '=', id).execute()
}

export type FoundUsers = { total: number; users: ScimResource[] }
type FoundRow = { total: number } & (Row | { id: null })

const selectedColumns = sql`s.user_id as id, s.user_name, s.external_id, s.display_name, s.formatted_name as formatted,
  s.given_name, s.family_name, s.emails, s.active, s.created_at, s.updated_at, s.revision`

/** Returns a page of all users, in a fixed order, and their number. */
export async function listUsers(db: Reads, page: ListPage): Promise<FoundUsers> {
  return runSearch(
    db,
    sql`
    select all_users.total, page.* from (select count(*)::int as total from scim_users) all_users
    left join lateral (
      select ${selectedColumns} from scim_users s order by s.user_id offset ${page.startIndex - 1} limit ${page.count}
    ) page on true order by page.id`,
  )
}

/**
 * Returns a page of the users that match, and the number of matches. Collects at most `maxRows` + 1 ids before it sorts them,
 * so that the planner chooses the index of the condition and not the order.
 */
export async function searchUsers(
  db: Reads,
  condition: RawBuilder<boolean>,
  { page, maxRows }: { page: ListPage; maxRows: number },
): Promise<FoundUsers> {
  return runSearch(
    db,
    sql`
    with matches as materialized (select s.user_id from scim_users s where ${condition} limit ${maxRows + 1})
    select counted.total, page.* from (select count(*)::int as total from matches) counted
    left join lateral (
      select ${selectedColumns} from (
        select user_id from matches order by user_id offset ${page.startIndex - 1} limit ${page.count}
      ) chosen join scim_users s on s.user_id = chosen.user_id order by s.user_id
    ) page on true order by page.id`,
  )
}

async function runSearch(db: Reads, statement: RawBuilder<unknown>): Promise<FoundUsers> {
  const rows = (await statement.execute(db)).rows as FoundRow[]
  return {
    total: rows[0]?.total ?? 0,
    users: rows.flatMap((row) => (row.id === null ? [] : [toResource(row)])),
  }
}

/** Limits the time of the statements until the transaction ends. */
export async function limitStatementTime(tx: Tx, timeoutMs: number): Promise<void> {
  await sql`select set_config('statement_timeout', ${String(timeoutMs)}, true)`.execute(tx)
}
