import { sql } from 'kysely'
import { type FindTargets, type Target, createFindById } from '../../policy/scopes.ts'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'
import { newId, parseUuid } from '../../platform/ids.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPage } from '../../platform/lists/page.ts'
import { type Revised, revisionColumns } from '../../platform/postgres/revised.ts'

export type Tenant2Application = Revised & {
  id: string
  projectId: string
  tenantId: string
  applicationId: string
  enabled: boolean
}

const columns = ['id', 'projectId', 'tenantId', 'applicationId', 'enabled', ...revisionColumns] as const

export const tenant2ApplicationFields: ListFields = {
  id: { column: 'id', match: 'id' },
  tenantId: { column: 'tenantId', match: 'id' },
  applicationId: { column: 'applicationId', match: 'id' },
  enabled: { column: 'enabled', match: 'boolean' },
}

/** Returns a page of the rows of a tenant, of an application, or of both. */
export function listTenant2Applications(
  db: Reads,
  parent: { tenantId: string | null; applicationId: string | null },
  page: Page,
): Promise<Tenant2Application[]> {
  const where = sql<boolean>`(${parent.tenantId}::uuid is null or tenant2applications.tenant_id = ${parent.tenantId}::uuid)
    and (${parent.applicationId}::uuid is null or tenant2applications.application_id = ${parent.applicationId}::uuid)`
  return fetchPage(db, { table: 'tenant2applications', columns, page, where })
}

/** Returns the rows with these ids, in any order. */
export function findTenant2Applications(db: Reads, ids: readonly string[]): Promise<Tenant2Application[]> {
  return db.selectFrom('tenant2applications').select(columns).where('id', 'in', ids).execute()
}

/** Returns one row and locks it until the transaction ends. */
export function lockTenant2Application(tx: Tx, id: string): Promise<Tenant2Application | undefined> {
  return tx
    .selectFrom('tenant2applications')
    .select(columns)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/** Inserts a row into the project of the tenant. The database rejects an application of another project. */
export function insertTenant2Application(
  tx: Tx,
  values: { tenantId: string; applicationId: string; enabled: boolean },
): Promise<Tenant2Application | undefined> {
  return tx
    .insertInto('tenant2applications')
    .columns(['id', 'projectId', 'tenantId', 'applicationId', 'enabled'])
    .expression((eb) =>
      eb
        .selectFrom('tenants')
        .select([sql<string>`${newId()}::uuid`.as('id'), 'projectId', 'id as tenantId'])
        .select([sql<string>`${values.applicationId}::uuid`.as('applicationId')])
        .select([sql<boolean>`${values.enabled}::boolean`.as('enabled')])
        .where('id', '=', values.tenantId),
    )
    .returning(columns)
    .executeTakeFirst()
}

export function setEnabled(tx: Tx, id: string, enabled: boolean): Promise<Tenant2Application> {
  return tx
    .updateTable('tenant2applications')
    .set({ enabled, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function deleteTenant2Application(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('tenant2applications').where('id', '=', id).execute()
}

/** Finds rows by tenant and application, for policy checks. */
export const findByPair: FindTargets = async (db, keys) => {
  const pairs = keys.map(([tenantId, applicationId]) => [parseUuid(tenantId), parseUuid(applicationId)])
  const { rows } = await sql<Target & { key: string }>`
    select wanted.position as key, t.project_id, t.tenant_id, t.application_id
    from unnest(${pairs.map(([tenantId]) => tenantId)}::uuid[], ${pairs.map(([, applicationId]) => applicationId)}::uuid[])
      with ordinality as wanted (tenant_id, application_id, position)
    join tenant2applications t on t.tenant_id = wanted.tenant_id and t.application_id = wanted.application_id`.execute(
    db,
  )
  const rowsByPosition = new Map(rows.map((row) => [Number(row.key), row]))
  return pairs.map((_, index) => rowsByPosition.get(index + 1) ?? null)
}

const byTenantId = createFindById('tenants', { tenant: 'id' })
const byApplicationId = createFindById('applications', { application: 'id' })

/** Finds the tenant if its id is given, otherwise the application. Returns null if neither id is given. */
export const findByTenantOrApplication: FindTargets = async (db, keys) => {
  const byTenant = await byTenantId(
    db,
    keys.map(([tenantId]) => [tenantId ?? null]),
  )
  const byApplication = await byApplicationId(
    db,
    keys.map(([, applicationId]) => [applicationId ?? null]),
  )
  return keys.map(([tenantId], index) => (tenantId === null ? byApplication[index] : byTenant[index]) ?? null)
}
