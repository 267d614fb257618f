// Reads, inside the writing transaction, what the caller holds at this moment. The rows stay locked until it ends, so
// a demotion either comes before the grant and stops it, or waits for it.
import type { TenantPermission } from '../../policy/roles.ts'
import type { Tx } from '../../platform/postgres/handles.ts'
import type { TenantRole } from './role-grants.pure.ts'

/** The user's role in the tenant with its permissions, or null. */
export async function tenantRoleOf(tx: Tx, tenantId: string, userId: string): Promise<TenantRole | null> {
  const row = await tx
    .selectFrom('user2tenants as m')
    .innerJoin('tenantRoleDefinitions as d', (on) =>
      on.onRef('d.tenantId', '=', 'm.tenantId').onRef('d.name', '=', 'm.roleName'),
    )
    .select(['d.name', 'd.permissions'])
    .where('m.tenantId', '=', tenantId)
    .where('m.userId', '=', userId)
    .forShare()
    .executeTakeFirst()
  return row === undefined ? null : { name: row.name, permissions: row.permissions as TenantPermission[] }
}

/** The definition with this name in the tenant, or null. */
export async function tenantRoleNamed(tx: Tx, tenantId: string, name: string): Promise<TenantRole | null> {
  const row = await tx
    .selectFrom('tenantRoleDefinitions')
    .select(['name', 'permissions'])
    .where('tenantId', '=', tenantId)
    .where('name', '=', name)
    .forShare()
    .executeTakeFirst()
  return row === undefined ? null : { name: row.name, permissions: row.permissions as TenantPermission[] }
}

/** Changes of a project's memberships happen one after the other: what one counts, none changes meanwhile. */
export async function lockProjectMembers(tx: Tx, projectId: string): Promise<void> {
  await tx.selectFrom('projects').select('id').where('id', '=', projectId).forNoKeyUpdate().execute()
}

/** The same for a tenant's memberships; returns the tenant's project, or undefined when there is no such tenant. */
export async function lockTenantMembers(tx: Tx, tenantId: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('tenants')
    .select('projectId')
    .where('id', '=', tenantId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row?.projectId
}

/** The same for an application's memberships. */
export async function lockApplicationMembers(tx: Tx, applicationId: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('applications')
    .select('projectId')
    .where('id', '=', applicationId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row?.projectId
}
