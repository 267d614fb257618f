// The decision. These functions throw or return nothing: a forgotten await cannot open a door by being truthy.
import { setOwner } from '../platform/postgres/owner.ts'
import { AppError, notFound, notPermitted } from '../platform/errors.ts'
import type { Actor, RolesInProject } from './actor.ts'
import { type Permission, type Requirement, permissions } from './permissions.ts'
import { applicationRank, projectRank, projectRoles } from './roles.ts'
import type { ScopeDefinition, Target } from './scopes.ts'

export type Policy = {
  do: Permission
  /** What names the thing. */
  on: readonly string[]
  /** What names a second thing of the same kind, where an operation has two. */
  also?: readonly string[]
  /** Kind of thing, as a feature names it in its `scopes`, or `SYSTEM`; a start refuses any other. */
  in: string
}

const noProject = '00000000-0000-0000-0000-000000000000'

/**
 * Throws unless the actor holds the permission on the thing that `key` names. A thing the actor cannot even see is
 * "not found", exactly like one that does not exist.
 */
export async function authorize(actor: Actor, policy: Policy, key: (string | null)[]): Promise<void> {
  const requirement = permissions[policy.do]
  if (policy.in === 'SYSTEM') return authorizeSystem(actor, policy.do, requirement)
  const { noun, view } = actor.scopes[policy.in] as ScopeDefinition
  const target = await actor.findTarget(policy.in, key)
  if (target === null) {
    // Names can be guessed, unlike ids: one that is free takes the same statements as one that is out of reach.
    if (policy.in.endsWith('_SLUG') && !actor.isAdministrator) await actor.rolesIn(noProject)
    throw notFound(noun)
  }
  // Whoever has no rights in a project uses nothing of its share.
  if (actor.isAdministrator) return setOwner(target.projectId)
  const roles = await actor.rolesIn(target.projectId)
  if (holds(requirement, roles, target)) return setOwner(target.projectId)
  if (!holds(permissions[view], roles, target)) throw notFound(noun)
  throw notPermitted(`this needs ${describeRequirement(requirement)}`)
}

/**
 * The same for a REST route: a thing the actor cannot see is forbidden to them, whether or not it exists. Only
 * administrators learn that it does not.
 */
export async function authorizeRoute(actor: Actor, policy: Policy, key: (string | null)[]): Promise<void> {
  try {
    await authorize(actor, policy, key)
  } catch (error) {
    if (actor.isAdministrator || !(error instanceof AppError) || error.code !== 'not_found') throw error
    throw notPermitted(`this needs ${describeRequirement(permissions[policy.do])}`)
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
  throw notPermitted(`${permission} needs ${describeRequirement(requirement)}`)
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

/** The requirement as text, for error texts and docs/reference/permissions/. */
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
