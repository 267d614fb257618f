import { sql } from 'kysely'
import { type Reads, type Tx, withPreparedStatements } from '../../platform/postgres/handles.ts'
import { newId } from '../../platform/ids.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPages } from '../../platform/lists/page.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'
import { isOfActiveUser } from '../../policy/recheck.ts'
import { createReadableProjectSql } from '../../policy/readable-members.ts'
import { memberUserFields } from './member-fields.pure.ts'

export type ProjectMember = RevisionFields & {
  id: string
  projectId: string
  userId: string
  role: string
  /** The rule that gives the role; null if the role was given directly. */
  groupRuleId: string | null
}

const columns = ['id', 'projectId', 'userId', 'role', 'groupRuleId', ...revisionColumns] as const

export const projectMemberFields: ListFields = {
  id: { column: 'id', match: 'id' },
  userId: { column: 'userId', match: 'id' },
  role: { column: 'role', match: 'exact' },
  ...memberUserFields,
}

/** Fields by which callers can filter and order a user's memberships. */
export const projectMembershipFields: ListFields = {
  id: { column: 'id', match: 'id' },
  projectId: { column: 'projectId', match: 'id' },
  role: { column: 'role', match: 'exact' },
}

export function listProjectMembers(db: Reads, projectId: string, page: Page): Promise<ProjectMember[]> {
  return fetchPages(db, {
    table: 'user2projects',
    columns,
    page,
    parent: 'projectId',
    parentIds: [projectId],
  })
}

/**
 * Returns a page of project memberships for each of the users. With `readerId`, only memberships of that user, and of
 * projects whose members that user may read.
 */
export function listProjectMemberships(
  db: Reads,
  userIds: readonly string[],
  readerId: string | null,
  page: Page,
): Promise<ProjectMember[]> {
  const where =
    readerId === null
      ? undefined
      : sql<boolean>`(user2projects.user_id = ${readerId}
          or ${createReadableProjectSql('user2projects.projectId', readerId)})`
  return fetchPages(db, {
    table: 'user2projects',
    columns,
    page,
    where,
    parent: 'userId',
    parentIds: userIds,
  })
}

/** Finds a membership by id in any project. */
export function findProjectMember(db: Reads, id: string): Promise<ProjectMember | undefined> {
  return withPreparedStatements(db)
    .selectFrom('user2projects')
    .select(columns)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Returns the membership that a group rule gives to a user, if the user has no direct role. */
export function findProjectMemberOfGroup(
  tx: Tx,
  projectId: string,
  userId: string,
): Promise<ProjectMember | undefined> {
  return tx
    .selectFrom('user2projects')
    .select(columns)
    .where('projectId', '=', projectId)
    .where('userId', '=', userId)
    .where('groupRuleId', 'is not', null)
    .executeTakeFirst()
}

/** Returns the number of active direct owners other than this user. */
export async function countOtherOwners(tx: Tx, projectId: string, userId: string): Promise<number> {
  const row = await tx
    .selectFrom('user2projects')
    .select((eb) => eb.fn.countAll<string>().as('owners'))
    .where('projectId', '=', projectId)
    .where('role', '=', 'owner')
    .where('userId', '<>', userId)
    .where('groupRuleId', 'is', null)
    .where(isOfActiveUser('user2projects'))
    .executeTakeFirstOrThrow()
  return Number(row.owners)
}

/** Gives a role directly. A role of a group rule gives way to it. Returns undefined if the user has another direct role. */
export function insertProjectMember(
  tx: Tx,
  values: Omit<ProjectMember, 'id' | 'groupRuleId' | keyof RevisionFields>,
): Promise<ProjectMember | undefined> {
  return tx
    .insertInto('user2projects')
    .values({ id: newId(), ...values })
    .onConflict((conflict) =>
      conflict
        .columns(['projectId', 'userId'])
        .doUpdateSet({ role: values.role, groupRuleId: null, updatedAt: sql`now()` })
        .where('user2projects.groupRuleId', 'is not', null),
    )
    .returning(columns)
    .executeTakeFirst()
}

/** Gives another role directly. */
export function setProjectRole(tx: Tx, id: string, role: string): Promise<ProjectMember> {
  return tx
    .updateTable('user2projects')
    .set({ role, groupRuleId: null, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function deleteProjectMember(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('user2projects').where('id', '=', id).execute()
}
