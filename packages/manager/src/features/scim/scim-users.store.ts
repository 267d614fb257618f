import { type RawBuilder, sql } from 'kysely'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'
import { type FoundRows, type PageSource, listRows, searchRows } from './scim-pages.store.ts'
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

/**
 * Returns a user, or null, and locks the row until the transaction ends. The lock permits that a group adds the user as a
 * member: a group change holds such rows before it waits for the row of the person.
 */
export async function lockUser(tx: Tx, id: string): Promise<ScimResource | null> {
  const row = await tx
    .selectFrom('scimUsers')
    .select(columns)
    .where('userId', '=', id)
    .forNoKeyUpdate()
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

const source: PageSource = {
  table: sql`scim_users`,
  key: sql`user_id`,
  columns: sql`s.user_id as id, s.user_name, s.external_id, s.display_name, s.formatted_name as formatted, s.given_name,
    s.family_name, s.emails, s.active, s.created_at, s.updated_at, s.revision`,
}

/** Returns a page of all users, in a fixed order, and their number. */
export const listUsers = async (db: Reads, page: ListPage): Promise<FoundRows<ScimResource>> =>
  toResources(await listRows<Row>(db, source, page))

/** Returns a page of the users that match, and the number of matches, counted up to `maxRows` + 1. */
export const searchUsers = async (
  db: Reads,
  condition: RawBuilder<boolean>,
  range: { page: ListPage; maxRows: number },
): Promise<FoundRows<ScimResource>> => toResources(await searchRows<Row>(db, source, condition, range))

const toResources = ({ total, rows }: FoundRows<Row>): FoundRows<ScimResource> => ({
  total,
  rows: rows.map(toResource),
})
