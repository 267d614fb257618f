// Returns the permissions that the policy grants a principal of the matrix on each kind of object.
import type { Actor } from '../../src/policy/actor.ts'
import { listPermissions, listPermissionsOn } from '../../src/policy/authorize.ts'
import type { Permission } from '../../src/policy/permissions.ts'
import type { ProjectRole, TenantPermission } from '../../src/policy/roles.ts'
import { type Principal, projectRoles } from './principals.ts'
import type { MatrixWorld } from './world.ts'

const tenantPermissions: Readonly<Record<string, readonly TenantPermission[]>> = {
  'tenant owner': ['apps.read', 'apps.configure', 'members', 'invites'],
  'tenant admin': ['apps.read', 'apps.configure', 'members', 'invites'],
  'tenant member': ['apps.read'],
}

/** Returns a caller with the roles of a principal in the project, as the policy sees it. */
function createActor({ own: { tenantId, applicationId } }: MatrixWorld, principal: Principal): Actor {
  const projectRole = projectRoles.includes(principal) ? (principal as ProjectRole) : null
  const ofTenant = tenantPermissions[principal]
  const applicationRole = { 'application normal': 'normal', 'application readonly': 'readonly' }[
    principal as string
  ]
  const anyRole = principal === 'other owner' ? 'owner' : projectRole
  return {
    isAdministrator: principal === 'administrator',
    hasProjectRole: (roles: readonly ProjectRole[]) =>
      Promise.resolve(anyRole !== null && roles.includes(anyRole)),
    readRolesIn: () =>
      Promise.resolve({
        projectRole,
        tenants: new Map(ofTenant === undefined ? [] : [[tenantId, new Set(ofTenant)]]),
        tenantRoles: new Map(),
        applications: new Map(applicationRole === undefined ? [] : [[applicationId, applicationRole]]),
      }),
  } as unknown as Actor
}

type Granted = Record<'system' | 'project' | 'tenant' | 'application', readonly Permission[]>

/** Returns the permissions that the policy grants a principal on each kind of object. */
export async function readGranted(world: MatrixWorld, principal: Principal): Promise<Granted> {
  const actor = createActor(world, principal)
  const { id: projectId, tenantId, applicationId } = world.own
  return {
    system: await listPermissions(actor, 'SYSTEM', []),
    project: await listPermissionsOn(actor, { projectId }),
    tenant: await listPermissionsOn(actor, { projectId, tenantId }),
    application: await listPermissionsOn(actor, { projectId, applicationId }),
  }
}
