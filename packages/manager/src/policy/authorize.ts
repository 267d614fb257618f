// These functions throw or return nothing. A boolean result could grant access: without await, its promise is truthy.
import { setOwner } from '../platform/postgres/owner.ts'
import { AppError, notFound, notPermitted } from '../platform/errors.ts'
import type { Actor, RolesInProject } from './actor.ts'
import { type Permission, type Requirement, permissions } from './permissions.ts'
import { applicationRank, projectRank, projectRoles } from './roles.ts'
import type { ScopeDefinition, Target } from './scopes.ts'

export type Policy = {
  do: Permission
  /** Arguments, parent fields or route parameters that identify the object. */
  on: readonly string[]
  /** The same for a second object of the same kind, if the operation has two. */
  also?: readonly string[]
  /** Object kind from the `scopes` of a feature, or `SYSTEM`; any other value fails at startup. */
  in: string
}

const unknownProjectId = '00000000-0000-0000-0000-000000000000'

/**
 * Throws unless the actor has the permission on the object that `key` identifies. An object that the actor cannot see
 * is "not found", exactly like an object that does not exist.
 */
export async function authorize(actor: Actor, policy: Policy, key: (string | null)[]): Promise<void> {
  const requirement = permissions[policy.do]
  if (policy.in === 'SYSTEM') return authorizeSystem(actor, policy.do, requirement)
  const { noun, view } = actor.scopes[policy.in] as ScopeDefinition
  const target = await actor.findTarget(policy.in, key)
  if (target === null) {
    // Slugs can be guessed, unlike ids: for an unused slug, the same statements run as for a slug that the actor cannot
    // see.
    if (policy.in.endsWith('_SLUG') && !actor.isAdministrator) await actor.rolesIn(unknownProjectId)
    throw notFound(noun)
  }
  // Only authorized callers are charged to the project: others must not use up its share.
  if (actor.isAdministrator) return setOwner(target.projectId)
  const roles = await actor.rolesIn(target.projectId)
  if (holds(requirement, roles, target)) return setOwner(target.projectId)
  if (!holds(permissions[view], roles, target)) throw notFound(noun)
  throw notPermitted(`requires ${describeRequirement(requirement)}`)
}

/**
 * Authorizes a REST route. The response is 403 if the actor cannot see the object, whether or not it exists. Only
 * administrators get 404.
 */
export async function authorizeRoute(actor: Actor, policy: Policy, key: (string | null)[]): Promise<void> {
  try {
    await authorize(actor, policy, key)
  } catch (error) {
    if (actor.isAdministrator || !(error instanceof AppError) || error.code !== 'not_found') throw error
    throw notPermitted(`requires ${describeRequirement(permissions[policy.do])}`)
  }
}

async function authorizeSystem(
  actor: Actor,
  permission: Permission,
  requirement: Requirement,
): Promise<void> {
  if (actor.isAdministrator || requirement.system === 'user') return
  if (requirement.anyProject !== undefined) {
    const enough = projectRoles.slice(projectRoles.indexOf(requirement.anyProject))
    if (await actor.hasProjectRole(enough)) return
  }
  throw notPermitted(`${permission} requires ${describeRequirement(requirement)}`)
}

function holds(requirement: Requirement, roles: RolesInProject, target: Target): boolean {
  if (requirement.project !== undefined && projectRank(roles.projectRole) >= projectRank(requirement.project))
    return true
  const { tenantId, applicationId } = target
  if (requirement.tenant !== undefined && typeof tenantId === 'string')
    if (roles.tenants.get(tenantId)?.has(requirement.tenant) === true) return true
  if (requirement.application !== undefined && typeof applicationId === 'string') {
    const role = roles.applications.get(applicationId) ?? null
    if (applicationRank(role) >= applicationRank(requirement.application)) return true
  }
  if (requirement.anyMembership !== true) return false
  return roles.projectRole !== null || roles.tenants.size > 0 || roles.applications.size > 0
}

/** Describes the requirement for error texts and docs/reference/permissions/. */
export function describeRequirement(requirement: Requirement): string {
  const ways = [
    requirement.project === undefined ? null : `project role ${requirement.project} or higher`,
    requirement.tenant === undefined ? null : `tenant permission ${requirement.tenant}`,
    requirement.application === undefined ? null : `application role ${requirement.application} or higher`,
    requirement.anyMembership === undefined ? null : 'any membership in the project',
    requirement.anyProject === undefined
      ? null
      : `project role ${requirement.anyProject} or higher in any project`,
    requirement.system === 'user' ? 'any authenticated user' : null,
    requirement.system === 'user' ? null : 'system role administrator',
  ]
  return ways.filter((way) => way !== null).join(', or ')
}
