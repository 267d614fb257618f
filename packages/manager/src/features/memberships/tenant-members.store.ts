import { sql } from 'kysely'
import { type Reads, type Tx, withPreparedStatements } from '../../platform/postgres/handles.ts'
import { newId } from '../../platform/ids.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPages } from '../../platform/lists/page.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'
import { createReadableProjectSql, createReadableTenantSql } from '../../policy/readable-members.ts'
import { memberUserFields } from './member-fields.pure.ts'

export type TenantMember = RevisionFields & {
  id: string
  projectId: string
  tenantId: string
  userId: string
  roleName: string
}

const columns = ['id', 'projectId', 'tenantId', 'userId', 'roleName', ...revisionColumns] as const

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

export async function countOwners(tx: Tx, tenantId: string): Promise<number> {
  const row = await tx
    .selectFrom('user2tenants')
    .select((eb) => eb.fn.countAll<string>().as('owners'))
    .where('tenantId', '=', tenantId)
    .where('roleName', '=', 'owner')
    .executeTakeFirstOrThrow()
  return Number(row.owners)
}

export function insertTenantMember(
  tx: Tx,
  values: Omit<TenantMember, 'id' | keyof RevisionFields>,
): Promise<TenantMember> {
  return tx
    .insertInto('user2tenants')
    .values({ id: newId(), ...values })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export function setTenantRole(tx: Tx, id: string, roleName: string): Promise<TenantMember> {
  return tx
    .updateTable('user2tenants')
    .set({ roleName, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function deleteTenantMember(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('user2tenants').where('id', '=', id).execute()
}
