// Reads groups for identity providers. features/groups writes them.
import { sql } from 'kysely'
import { type Reads, type Tx, anyOf } from '../../platform/postgres/handles.ts'
import type { ScimGroup } from './scim-group-resource.pure.ts'
import type { PageSource } from './scim-pages.store.ts'

const columns = [
  'id',
  'displayName',
  'externalId',
  'memberCount',
  'createdAt',
  'updatedAt',
  'revision',
] as const

export const groupSource: PageSource = {
  table: sql`scim_groups`,
  key: sql`id`,
  columns: sql`s.id, s.display_name, s.external_id, s.member_count, s.created_at, s.updated_at, s.revision`,
}

/** Returns a group without its members, or null. */
export async function findGroup(db: Reads, id: string): Promise<ScimGroup | null> {
  return (await db.selectFrom('scimGroups').select(columns).where('id', '=', id).executeTakeFirst()) ?? null
}

/** Returns the ids of the members by group. A group without members is missing. */
export async function findMemberIds(
  db: Reads,
  groupIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await sql<{ groupId: string; userIds: string[] }>`
    select m.group_id, array_agg(m.user_id::text order by m.user_id) as user_ids
    from scim_group_members m where m.group_id = ${anyOf(groupIds)} group by m.group_id`.execute(db)
  return new Map(rows.map(({ groupId, userIds }) => [groupId, userIds]))
}

/**
 * Returns an id that does not belong to a SCIM user, or null. Until the transaction ends, none of the others can be deleted.
 * The lock is the one that the insertion of a member needs anyway. `except` stays linear: for a join, PostgreSQL expects few
 * ids and chooses nested loops.
 */
export async function findUnknownUser(tx: Tx, userIds: readonly string[]): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    with locked as materialized (
      select s.user_id from scim_users s where s.user_id = ${anyOf(userIds)} order by s.user_id for key share)
    select unknown.id::text as id from (
      select id from unnest(${userIds}::uuid[]) as id except select user_id from locked
    ) unknown limit 1`.execute(tx)
  return rows[0]?.id ?? null
}
