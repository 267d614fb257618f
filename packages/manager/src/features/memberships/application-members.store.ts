import { sql } from 'kysely'
import { type Reads, type Tx, withPreparedStatements } from '../../platform/postgres/handles.ts'
import { newId } from '../../platform/ids.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPages } from '../../platform/lists/page.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'
import { createReadableProjectSql } from '../../policy/readable-members.ts'
import { memberUserFields } from './member-fields.pure.ts'

export type ApplicationMember = RevisionFields & {
  id: string
  projectId: string
  applicationId: string
  userId: string
  role: string
  /** The rule that gives the role; null if the role was given directly. */
  groupRuleId: string | null
}

const columns = [
  'id',
  'projectId',
  'applicationId',
  'userId',
  'role',
  'groupRuleId',
  ...revisionColumns,
] as const

export const applicationMemberFields: ListFields = {
  id: { column: 'id', match: 'id' },
  userId: { column: 'userId', match: 'id' },
  role: { column: 'role', match: 'exact' },
  ...memberUserFields,
}

/** Fields by which callers can filter and order a user's memberships. */
export const applicationMembershipFields: ListFields = {
  id: { column: 'id', match: 'id' },
  applicationId: { column: 'applicationId', match: 'id' },
  role: { column: 'role', match: 'exact' },
}

export function listApplicationMembers(
  db: Reads,
  applicationId: string,
  page: Page,
): Promise<ApplicationMember[]> {
  return fetchPages(db, {
    table: 'user2applications',
    columns,
    page,
    parent: 'applicationId',
    parentIds: [applicationId],
  })
}

/**
 * Returns a page of application memberships for each of the users. With `readerId`, returns only that user's own
 * memberships, and memberships of applications whose members that user may read.
 */
export function listApplicationMemberships(
  db: Reads,
  userIds: readonly string[],
  readerId: string | null,
  page: Page,
): Promise<ApplicationMember[]> {
  const where =
    readerId === null
      ? undefined
      : sql<boolean>`(user2applications.user_id = ${readerId}
          or ${createReadableProjectSql('user2applications.projectId', readerId)})`
  return fetchPages(db, {
    table: 'user2applications',
    columns,
    page,
    where,
    parent: 'userId',
    parentIds: userIds,
  })
}

/** Finds a membership by id in any application. */
export function findApplicationMember(db: Reads, id: string): Promise<ApplicationMember | undefined> {
  return withPreparedStatements(db)
    .selectFrom('user2applications')
    .select(columns)
    .where('id', '=', id)
    .executeTakeFirst()
}

export async function isApplicationMember(tx: Tx, applicationId: string, userId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('user2applications')
    .select('id')
    .where('applicationId', '=', applicationId)
    .where('userId', '=', userId)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the membership that a group rule gives to a user, if the user has no direct role. */
export function findApplicationMemberOfGroup(
  tx: Tx,
  applicationId: string,
  userId: string,
): Promise<ApplicationMember | undefined> {
  return tx
    .selectFrom('user2applications')
    .select(columns)
    .where('applicationId', '=', applicationId)
    .where('userId', '=', userId)
    .where('groupRuleId', 'is not', null)
    .executeTakeFirst()
}

/** Returns a membership and locks its row until the transaction ends. */
export function lockApplicationMember(tx: Tx, id: string): Promise<ApplicationMember | undefined> {
  return tx
    .selectFrom('user2applications')
    .select(columns)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/** Gives a role directly. A role of a group rule gives way to it. Returns undefined if the user has another direct role. */
export function insertApplicationMember(
  tx: Tx,
  values: Omit<ApplicationMember, 'id' | 'groupRuleId' | keyof RevisionFields>,
): Promise<ApplicationMember | undefined> {
  return tx
    .insertInto('user2applications')
    .values({ id: newId(), ...values })
    .onConflict((conflict) =>
      conflict
        .columns(['applicationId', 'userId'])
        .doUpdateSet({ role: values.role, groupRuleId: null, updatedAt: sql`now()` })
        .where('user2applications.groupRuleId', 'is not', null),
    )
    .returning(columns)
    .executeTakeFirst()
}

/** Gives another role directly. */
export function setApplicationRole(tx: Tx, id: string, role: string): Promise<ApplicationMember> {
  return tx
    .updateTable('user2applications')
    .set({ role, groupRuleId: null, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function deleteApplicationMember(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('user2applications').where('id', '=', id).execute()
}
