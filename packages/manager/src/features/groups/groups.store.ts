import { sql } from 'kysely'
import { type Reads, type Tx, anyOf } from '../../platform/postgres/handles.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPage, fetchPages } from '../../platform/lists/page.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

/** The attributes of a group that an identity provider writes. */
export type GroupValues = { displayName: string; externalId: string | null }
export type ProvisionedGroup = RevisionFields &
  GroupValues & { id: string; memberCount: number; createdAt: string }
export type GroupMember = { id: string; groupId: string; userId: string }

const columns = ['id', 'displayName', 'externalId', 'memberCount', 'createdAt', ...revisionColumns] as const

export const groupFields: ListFields = {
  id: { column: 'id', match: 'id' },
  displayName: { column: 'displayName', match: 'text' },
  externalId: { column: 'externalId', match: 'exact', isNullable: true },
  memberCount: { column: 'memberCount', match: 'number' },
  createdAt: { column: 'createdAt', match: 'time' },
}

const via = { table: 'users', foreignKey: 'userId' }
export const groupMemberFields: ListFields = {
  id: { column: 'id', match: 'id' },
  userId: { column: 'userId', match: 'id' },
  userName: { column: 'externalName', match: 'text', via },
  username: { column: 'externalUsername', match: 'text', via },
  userEmail: { column: 'externalEmail', match: 'text', via },
}

export const listGroups = (db: Reads, page: Page): Promise<ProvisionedGroup[]> =>
  fetchPage(db, { table: 'scimGroups', columns, page })

export const findGroups = (db: Reads, ids: readonly string[]): Promise<ProvisionedGroup[]> =>
  db.selectFrom('scimGroups').select(columns).where('id', '=', anyOf(ids)).execute()

export const listMembers = (db: Reads, groupId: string, page: Page): Promise<GroupMember[]> =>
  fetchPages(db, {
    table: 'scimGroupMembers',
    columns: ['id', 'groupId', 'userId'],
    page,
    parent: 'groupId',
    parentIds: [groupId],
  })

/** Returns groups, and locks them and their members until the transaction ends, always in the same order. */
export const lockGroups = (tx: Tx, ids: readonly string[]): Promise<ProvisionedGroup[]> =>
  tx.selectFrom('scimGroups').select(columns).where('id', '=', anyOf(ids)).orderBy('id').forUpdate().execute()

/** Returns a group, or undefined, and locks it and its members until the transaction ends. */
export const lockGroup = async (tx: Tx, id: string): Promise<ProvisionedGroup | undefined> =>
  (await lockGroups(tx, [id]))[0]

export const insertGroup = (
  tx: Tx,
  id: string,
  values: GroupValues & { memberCount: number },
): Promise<ProvisionedGroup> =>
  tx
    .insertInto('scimGroups')
    .values({ id, ...values })
    .returning(columns)
    .executeTakeFirstOrThrow()

/** Writes the values, and counts members that joined or left. */
export const updateGroup = (
  tx: Tx,
  id: string,
  { joined, left, ...values }: GroupValues & { joined: number; left: number },
): Promise<ProvisionedGroup> =>
  tx
    .updateTable('scimGroups')
    .set({
      ...values,
      memberCount: sql`member_count + ${joined - left}::int`,
      memberChanges: sql`member_changes + ${joined + left}::int`,
      updatedAt: sql`now()`,
    })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

export async function deleteGroup(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('scimGroups').where('id', '=', id).execute()
}

/** Adds people. Returns those who were not members. */
export async function insertMembers(tx: Tx, groupId: string, userIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ userId: string }>`
    insert into scim_group_members (group_id, user_id)
    select ${groupId}::uuid, user_id from unnest(${userIds}::uuid[]) as user_id order by user_id
    on conflict (group_id, user_id) do nothing returning user_id`.execute(tx)
  return rows.map(({ userId }) => userId)
}

/** Removes people. Returns those who were members. */
export async function deleteMembers(tx: Tx, groupId: string, userIds: readonly string[]): Promise<string[]> {
  const rows = await tx
    .deleteFrom('scimGroupMembers')
    .where('groupId', '=', groupId)
    .where('userId', '=', anyOf(userIds))
    .returning('userId')
    .execute()
  return rows.map(({ userId }) => userId)
}

export async function listMemberIds(tx: Tx, groupId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('scimGroupMembers')
    .select('userId')
    .where('groupId', '=', groupId)
    .execute()
  return rows.map(({ userId }) => userId)
}

/** Removes a person from all groups. */
export async function deleteMemberships(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('scimGroupMembers').where('userId', '=', userId).execute()
}

/** Returns the groups of a person. */
export async function listGroupIds(tx: Tx, userId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('scimGroupMembers')
    .select('groupId')
    .where('userId', '=', userId)
    .execute()
  return rows.map(({ groupId }) => groupId)
}
