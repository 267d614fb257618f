import { sql } from 'kysely'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'
import { newId } from '../../platform/ids.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPages } from '../../platform/lists/page.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

export type TenantRoleDefinition = RevisionFields & {
  id: string
  projectId: string
  tenantId: string
  name: string
  permissions: string[]
  seeded: boolean
}

const columns = ['id', 'projectId', 'tenantId', 'name', 'permissions', 'seeded', ...revisionColumns] as const

export const tenantRoleFields: ListFields = {
  id: { column: 'id', match: 'id' },
  name: { column: 'name', match: 'text' },
  seeded: { column: 'seeded', match: 'boolean' },
}

export function listTenantRoles(db: Reads, tenantId: string, page: Page): Promise<TenantRoleDefinition[]> {
  return fetchPages(db, {
    table: 'tenantRoleDefinitions',
    columns,
    page,
    parent: 'tenantId',
    parentIds: [tenantId],
  })
}

export function findTenantRole(tx: Tx, id: string): Promise<TenantRoleDefinition | undefined> {
  return tx.selectFrom('tenantRoleDefinitions').select(columns).where('id', '=', id).executeTakeFirst()
}

/** Returns a definition and locks its row until the transaction ends. */
export function lockTenantRole(tx: Tx, id: string): Promise<TenantRoleDefinition | undefined> {
  return tx
    .selectFrom('tenantRoleDefinitions')
    .select(columns)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

export async function insertTenantRoles(
  tx: Tx,
  tenant: { id: string; projectId: string },
  roles: readonly { name: string; permissions: readonly string[]; seeded: boolean }[],
): Promise<TenantRoleDefinition[]> {
  return tx
    .insertInto('tenantRoleDefinitions')
    .values(
      roles.map(({ name, permissions, seeded }) => ({
        id: newId(),
        projectId: tenant.projectId,
        tenantId: tenant.id,
        name,
        permissions: [...permissions],
        seeded,
      })),
    )
    .returning(columns)
    .execute()
}

export async function findProjectOfTenant(tx: Tx, tenantId: string): Promise<string | undefined> {
  const row = await tx.selectFrom('tenants').select('projectId').where('id', '=', tenantId).executeTakeFirst()
  return row?.projectId
}

export function updateTenantRole(
  tx: Tx,
  id: string,
  values: { name: string; permissions: string[] },
): Promise<TenantRoleDefinition> {
  return tx
    .updateTable('tenantRoleDefinitions')
    .set({ ...values, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Deletes the definition. The database rejects the deletion of a definition that is in use. */
export async function deleteTenantRole(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('tenantRoleDefinitions').where('id', '=', id).execute()
}
