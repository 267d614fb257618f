import { sql } from 'kysely'
import type { VisibleRows } from '../../policy/visible-rows.ts'
import { type Reads, type Tx, anyOf, withPreparedStatements } from '../../platform/postgres/handles.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPages } from '../../platform/lists/page.ts'
import { getPageHandle } from '../../platform/lists/prepared-pages.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

export type Tenant = RevisionFields & {
  id: string
  projectId: string
  name: string
  slug: string
  deploymentMode: string
}
export type TenantValues = { name: string; slug: string; deploymentMode: string }

const columns = ['id', 'projectId', 'name', 'slug', 'deploymentMode', ...revisionColumns] as const

export const tenantFields: ListFields = {
  id: { column: 'id', match: 'id' },
  name: { column: 'name', match: 'text' },
  slug: { column: 'slug', match: 'exact' },
  deploymentMode: { column: 'deploymentMode', match: 'exact' },
}

/** Returns a page of tenants per project, limited to those visible to the caller. */
export function listTenants(
  db: Reads,
  projectIds: readonly string[],
  visible: VisibleRows,
  page: Page,
): Promise<Tenant[]> {
  const where =
    visible === 'all'
      ? undefined
      : sql<boolean>`(tenants.project_id = any(${visible.projectIds}::uuid[]) or tenants.id = any(${visible.ids}::uuid[]))`
  return fetchPages(getPageHandle(db, page, ['id', 'name']), {
    table: 'tenants',
    columns,
    page,
    where,
    parent: 'projectId',
    parentIds: projectIds,
  })
}

/** Returns the tenants with these ids, in any order. */
export function findTenants(db: Reads, ids: readonly string[]): Promise<Tenant[]> {
  return withPreparedStatements(db)
    .selectFrom('tenants')
    .select(columns)
    .where('id', '=', anyOf(ids))
    .execute()
}

export function findTenantBySlug(db: Reads, projectId: string, slug: string): Promise<Tenant | undefined> {
  return withPreparedStatements(db)
    .selectFrom('tenants')
    .select(columns)
    .where('projectId', '=', projectId)
    .where('slug', '=', slug)
    .executeTakeFirst()
}

/** Returns a tenant and locks its row until the transaction ends. */
export function lockTenant(tx: Tx, id: string): Promise<Tenant | undefined> {
  return tx.selectFrom('tenants').select(columns).where('id', '=', id).forUpdate().executeTakeFirst()
}

export function insertTenant(
  tx: Tx,
  values: TenantValues & { id: string; projectId: string },
): Promise<Tenant> {
  return tx.insertInto('tenants').values(values).returning(columns).executeTakeFirstOrThrow()
}

export function updateTenant(tx: Tx, id: string, values: TenantValues): Promise<Tenant> {
  return tx
    .updateTable('tenants')
    .set({ ...values, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Deletes the tenant with its memberships, role definitions and application rows. */
export async function deleteTenant(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('tenants').where('id', '=', id).execute()
}
