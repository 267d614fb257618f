import { sql } from 'kysely'
import { type Reads, type Tx, withPreparedStatements } from '../../platform/postgres/handles.ts'
import { newId } from '../../platform/ids.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPages } from '../../platform/lists/page.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'
import { isOfActiveUser } from '../../policy/recheck.ts'
import { createReadableProjectSql, createReadableTenantSql } from '../../policy/readable-members.ts'
import { memberUserFields } from './member-fields.pure.ts'

export type TenantMember = RevisionFields & {
  id: string
  projectId: string
  tenantId: string
  userId: string
  roleName: string
  /** The rule that gives the role; null if the role was given directly. */
  groupRuleId: string | null
}

const columns = [
  'id',
  'projectId',
  'tenantId',
  'userId',
  'roleName',
  'groupRuleId',
  ...revisionColumns,
] as const

export const tenantMemberFields: ListFields = {
  id: { column: 'id', match: 'id' },
  userId: { column: 'userId', match: 'id' },
  roleName: { column: 'roleName', match: 'exact' },
  ...memberUserFields,
}

/** Fields by which callers can filter and order a user's memberships. */
export const tenantMembershipFields: ListFields = {
  id: { column: 'id', match: 'id' },
  tenantId: { column: 'tenantId', match: 'id' },
  roleName: { column: 'roleName', match: 'exact' },
}

export function listTenantMembers(db: Reads, tenantId: string, page: Page): Promise<TenantMember[]> {
  return fetchPages(db, { table: 'user2tenants', columns, page, parent: 'tenantId', parentIds: [tenantId] })
}

/**
 * Returns a page of tenant memberships for each of the users. With `readerId`, only memberships of that user, and of
 * tenants whose members that user may read.
 */
export function listTenantMemberships(
  db: Reads,
  userIds: readonly string[],
  readerId: string | null,
  page: Page,
): Promise<TenantMember[]> {
  const where =
    readerId === null
      ? undefined
      : sql<boolean>`(user2tenants.user_id = ${readerId}
          or ${createReadableProjectSql('user2tenants.projectId', readerId)}
          or ${createReadableTenantSql('user2tenants.tenantId', readerId)})`
  return fetchPages(db, { table: 'user2tenants', columns, page, where, parent: 'userId', parentIds: userIds })
}

/** Finds a membership by id in any tenant. */
export function findTenantMember(db: Reads, id: string): Promise<TenantMember | undefined> {
  return withPreparedStatements(db)
    .selectFrom('user2tenants')
    .select(columns)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Returns the membership that a group rule gives to a user, if the user has no direct role. */
export function findTenantMemberOfGroup(
  tx: Tx,
  tenantId: string,
  userId: string,
): Promise<TenantMember | undefined> {
  return tx
    .selectFrom('user2tenants')
    .select(columns)
    .where('tenantId', '=', tenantId)
    .where('userId', '=', userId)
    .where('groupRuleId', 'is not', null)
    .executeTakeFirst()
}

/** Returns the number of active direct owners other than this user. */
export async function countOtherOwners(tx: Tx, tenantId: string, userId: string): Promise<number> {
  const row = await tx
    .selectFrom('user2tenants')
    .select((eb) => eb.fn.countAll<string>().as('owners'))
    .where('tenantId', '=', tenantId)
    .where('roleName', '=', 'owner')
    .where('userId', '<>', userId)
    .where('groupRuleId', 'is', null)
    .where(isOfActiveUser('user2tenants'))
    .executeTakeFirstOrThrow()
  return Number(row.owners)
}

/** Gives a role directly. A role of a group rule gives way to it. Returns undefined if the user has another direct role. */
export function insertTenantMember(
  tx: Tx,
  values: Omit<TenantMember, 'id' | 'groupRuleId' | keyof RevisionFields>,
): Promise<TenantMember | undefined> {
  return tx
    .insertInto('user2tenants')
    .values({ id: newId(), ...values })
    .onConflict((conflict) =>
      conflict
        .columns(['tenantId', 'userId'])
        .doUpdateSet({ roleName: values.roleName, groupRuleId: null, updatedAt: sql`now()` })
        .where('user2tenants.groupRuleId', 'is not', null),
    )
    .returning(columns)
    .executeTakeFirst()
}

/** Gives another role directly. */
export function setTenantRole(tx: Tx, id: string, roleName: string): Promise<TenantMember> {
  return tx
    .updateTable('user2tenants')
    .set({ roleName, groupRuleId: null, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function deleteTenantMember(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('user2tenants').where('id', '=', id).execute()
}
