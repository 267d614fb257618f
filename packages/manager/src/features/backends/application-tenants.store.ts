import type { Database, Db, PreparedStatement } from '../../platform/db/database.ts'

export type TenantName = { id: string; name: string }

// Its index has the enabled rows of an application in the order of their tenants: a page reads what it returns.
const pageStatement: PreparedStatement = {
  name: 'backends-application-tenants',
  text: `
    select t.id, t.name
    from tenant2applications ta join tenants t on t.id = ta.tenant_id
    where ta.application_id = $1 and ta.enabled and ta.tenant_id > $2
    order by ta.tenant_id limit $3::int`,
}

/** The tenants with ids after this one that the application is enabled for, by id, at most so many. */
export const readTenantsAfter = (
  read: Database['readContent'],
  applicationId: string,
  after: string,
  limit: number,
): Promise<TenantName[]> => read<TenantName>(pageStatement, [applicationId, after, limit])

/** Whether the project has the application. */
export async function isApplicationOf(db: Db, projectId: string, applicationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('applications')
    .select('id')
    .where('id', '=', applicationId)
    .where('projectId', '=', projectId)
    .executeTakeFirst()
  return row !== undefined
}
