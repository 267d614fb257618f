// Reads the current roles of the caller inside the writing transaction and locks the rows until the
// transaction ends. A concurrent demotion either commits first and prevents the grant, or waits for the
// grant.
import { isOfActiveUser } from '../../policy/recheck.ts'
import type { TenantPermission } from '../../policy/roles.ts'
import type { Tx } from '../../platform/postgres/handles.ts'
import type { TenantRole } from './role-grants.pure.ts'

/** Returns the tenant role of the user with its permissions, or null. */
export async function findTenantRoleOfUser(
  tx: Tx,
  tenantId: string,
  userId: string,
): Promise<TenantRole | null> {
  const row = await tx
    .selectFrom('user2tenants as m')
    .innerJoin('tenantRoleDefinitions as d', (on) =>
      on.onRef('d.tenantId', '=', 'm.tenantId').onRef('d.name', '=', 'm.roleName'),
    )
    .select(['d.name', 'd.permissions'])
    .where('m.tenantId', '=', tenantId)
    .where('m.userId', '=', userId)
    .where(isOfActiveUser('m'))
    .forShare()
    .executeTakeFirst()
  return row === undefined ? null : { name: row.name, permissions: row.permissions as TenantPermission[] }
}

export async function findTenantRoleByName(
  tx: Tx,
  tenantId: string,
  name: string,
): Promise<TenantRole | null> {
  const row = await tx
    .selectFrom('tenantRoleDefinitions')
    .select(['name', 'permissions'])
    .where('tenantId', '=', tenantId)
    .where('name', '=', name)
    .forShare()
    .executeTakeFirst()
  return row === undefined ? null : { name: row.name, permissions: row.permissions as TenantPermission[] }
}

/** Serializes membership changes of a project, so that the owner count stays valid until the transaction ends. */
export async function lockProjectMembers(tx: Tx, projectId: string): Promise<void> {
  await tx.selectFrom('projects').select('id').where('id', '=', projectId).forNoKeyUpdate().execute()
}

/**
 * Serializes membership changes of a tenant. Returns the project of the tenant, or undefined if the tenant does not
 * exist.
 */
export async function lockTenantMembers(tx: Tx, tenantId: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('tenants')
    .select('projectId')
    .where('id', '=', tenantId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row?.projectId
}

/** Serializes membership changes of an application. Returns its project, or undefined if it does not exist. */
export async function lockApplicationMembers(tx: Tx, applicationId: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('applications')
    .select('projectId')
    .where('id', '=', applicationId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row?.projectId
}
