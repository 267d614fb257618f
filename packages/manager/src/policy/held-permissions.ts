// Computes permissions from roles. The guard, `myPermissions` and the lists of effective access call these functions, so
// that all of them apply the same rules.
import { type Permission, type Requirement, permissions } from './permissions.ts'
import type { RolesInProject } from './roles-in-project.ts'
import { getApplicationRank, getProjectRank } from './roles.ts'
import type { Target } from './scopes.ts'

/** The roles of a person in the project of an object. Administrators need none. */
export type HeldRoles = 'administrator' | RolesInProject

const permissionNames = Object.keys(permissions) as Permission[]
const isObjectless = (name: Permission): boolean => {
  const { system, anyProject } = permissions[name]
  return system !== undefined || anyProject !== undefined
}
/** The permissions that do not depend on an object. */
export const systemPermissions = permissionNames.filter(isObjectless)
const objectPermissions = permissionNames.filter((name) => !isObjectless(name))

/** Returns the permissions on an object that the roles give. */
export const listHeldPermissions = (roles: HeldRoles, target: Target): readonly Permission[] =>
  roles === 'administrator'
    ? objectPermissions
    : objectPermissions.filter((name) => meetsRequirement(permissions[name], roles, target))

/** Returns whether the roles give a permission on an object. */
export function meetsRequirement(requirement: Requirement, roles: HeldRoles, target: Target): boolean {
  if (roles === 'administrator') return true
  if (
    requirement.project !== undefined &&
    getProjectRank(roles.projectRole) >= getProjectRank(requirement.project)
  )
    return true
  const { tenantId, applicationId } = target
  if (requirement.tenant !== undefined && typeof tenantId === 'string')
    if (roles.tenants.get(tenantId)?.has(requirement.tenant) === true) return true
  if (requirement.application !== undefined && typeof applicationId === 'string') {
    const role = roles.applications.get(applicationId) ?? null
    if (getApplicationRank(role) >= getApplicationRank(requirement.application)) return true
  }
  if (requirement.anyMembership !== true) return false
  return roles.projectRole !== null || roles.tenants.size > 0 || roles.applications.size > 0
}
