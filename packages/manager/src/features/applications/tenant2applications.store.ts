import { sql } from 'kysely'
import { type FindTarget, type Target, createIdFinder } from '../../policy/scopes.ts'
import { type Reads, type Tx, anyOf, withPreparedStatements } from '../../platform/postgres/handles.ts'
import type { Lookup } from '../../platform/postgres/lookups.ts'
import { newId, parseUuid } from '../../platform/ids.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPage } from '../../platform/lists/page.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

export type Tenant2Application = RevisionFields & {
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
  return withPreparedStatements(db)
    .selectFrom('tenant2applications')
    .select(columns)
    .where('id', '=', anyOf(ids))
    .execute()
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

/** Inserts a row into the project of the tenant. The database rejects applications of other projects. */
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

const pairLookup: Lookup<Target> = {
  name: 'target-tenant2applications-by-pair',
  kind: 'read',
  size: 'large',
  text: `
    select wanted.position::int, found.*
    from unnest($1::uuid[], $2::uuid[]) with ordinality as wanted (tenant_id, application_id, position)
    cross join lateral (
      select project_id as "projectId", tenant_id as "tenantId", application_id as "applicationId"
      from tenant2applications t
      where t.tenant_id = wanted.tenant_id and t.application_id = wanted.application_id limit 1
    ) found`,
}

/** Finds a row by tenant and application, for policy checks. */
export const findByPair: FindTarget = async (lookUp, key) => {
  const [tenantId = null, applicationId = null] = key.map((id) => parseUuid(id))
  return tenantId === null || applicationId === null ? null : lookUp(pairLookup, [tenantId, applicationId])
}

const findTenant = createIdFinder('tenants', { tenant: 'id' })
const findApplication = createIdFinder('applications', { application: 'id' })

/** Finds the tenant if its id is given, otherwise the application. Returns null if neither id is given. */
export const findByTenantOrApplication: FindTarget = (lookUp, [tenantId, applicationId = null]) =>
  tenantId === null || tenantId === undefined
    ? findApplication(lookUp, [applicationId])
    : findTenant(lookUp, [tenantId])
