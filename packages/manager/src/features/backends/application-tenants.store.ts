import type { Reads } from '../../platform/postgres/handles.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'

export type TenantName = { id: string; name: string }

export const tenantsPerPage = 1_000

// Its index has the enabled rows of an application in the order of their tenants: a page reads what it returns. How long
// a page is stands in the text, since the planner would take a number that it does not know for far more.
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

/** The next page of the tenants with ids after this one that the application is enabled for, by id. */
export const readTenantsAfter = (
  run: RunPrepared,
  applicationId: string,
  after: string,
): Promise<TenantName[]> => run<TenantName>(pageStatement, [applicationId, after])

/** Whether the project has the application. */
export async function isApplicationOf(db: Reads, projectId: string, applicationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('applications')
    .select('id')
    .where('id', '=', applicationId)
    .where('projectId', '=', projectId)
    .executeTakeFirst()
  return row !== undefined
}
