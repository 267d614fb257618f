import type { Reads } from '../../platform/postgres/handles.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'

export type TenantName = { id: string; name: string }

export const tenantsPerPage = 1_000

// The index contains the enabled rows of an application in tenant order, so a page reads only the rows that it
// returns. The limit is part of the SQL text: with a parameter, the planner would expect far more rows.
const pageStatement: PreparedStatement = {
  name: 'backends-application-tenants',
  kind: 'read',
  size: 'large',
  text: `
    select t.id, t.name
    from tenant2applications ta join tenants t on t.id = ta.tenant_id
    where ta.application_id = $1 and ta.enabled and ta.tenant_id > $2
    order by ta.tenant_id limit ${tenantsPerPage}`,
}

/** Returns the next page of tenants for which the application is enabled, ordered by id. */
export const readTenantsAfter = (
  run: RunPrepared,
  applicationId: string,
  after: string,
): Promise<TenantName[]> => run<TenantName>(pageStatement, [applicationId, after])

/** Returns whether the application belongs to the project. */
export async function projectHasApplication(
  db: Reads,
  projectId: string,
  applicationId: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('applications')
    .select('id')
    .where('id', '=', applicationId)
    .where('projectId', '=', projectId)
    .executeTakeFirst()
  return row !== undefined
}
