// The decision. These functions throw or return nothing: a forgotten await cannot open a door by being truthy.
import type { Permission, Scope } from '../generated/graphql.ts'
import { forbidden, notFound } from '../platform/errors.ts'
import type { Actor, Holding } from './actor.ts'
import { type Grant, permissions } from './permissions.ts'
import { applicationRank, projectRank, projectRoles } from './roles.ts'
import { type Target, scopes } from './scopes.ts'

export type Policy = {
  do: Permission
  /** What names the thing. */
  on: readonly string[]
  /** What names a second thing of the same kind, where an operation has two. */
  also?: readonly string[]
  in: Scope
}

const noProject = '00000000-0000-0000-0000-000000000000'

/**
 * Throws unless the actor holds the permission on the thing that `key` names. A thing the actor cannot even see is
 * "not found", exactly like one that does not exist.
 */
export async function authorize(actor: Actor, policy: Policy, key: (string | null)[]): Promise<void> {
  const grant = permissions[policy.do]
  if (policy.in === 'SYSTEM') return authorizeSystem(actor, policy.do, grant)
  const { noun, view } = scopes[policy.in]
  const target = await actor.findTarget(policy.in, key)
  if (target === null) {
    // Names can be guessed, unlike ids: one that is free takes the same statements as one that is out of reach.
    if (policy.in.endsWith('_SLUG') && !actor.isAdministrator) await actor.holdingIn(noProject)
    throw notFound(noun)
  }
  if (actor.isAdministrator) return
  const holding = await actor.holdingIn(target.projectId)
  if (holds(grant, holding, target)) return
  if (!holds(permissions[view], holding, target)) throw notFound(noun)
  throw forbidden(`not permitted: this needs ${describeGrant(grant)}`)
}

async function authorizeSystem(actor: Actor, permission: Permission, grant: Grant): Promise<void> {
  if (actor.isAdministrator || grant.system === 'user') return
  if (grant.anyProject !== undefined) {
    const enough = projectRoles.slice(projectRoles.indexOf(grant.anyProject))
    if (await actor.hasProjectRole(enough)) return
  }
  throw forbidden(`not permitted: ${permission} needs ${describeGrant(grant)}`)
}

function holds(grant: Grant, holding: Holding, target: Target): boolean {
  if (grant.project !== undefined && projectRank(holding.projectRole) >= projectRank(grant.project))
    return true
  const { tenantId, applicationId } = target
  if (grant.tenant !== undefined && typeof tenantId === 'string')
    if (holding.tenants.get(tenantId)?.has(grant.tenant) === true) return true
  if (grant.application !== undefined && typeof applicationId === 'string') {
    const role = holding.applications.get(applicationId) ?? null
    if (applicationRank(role) >= applicationRank(grant.application)) return true
  }
  if (grant.anyMembership !== true) return false
  return holding.projectRole !== null || holding.tenants.size > 0 || holding.applications.size > 0
}

/** The grant in words, for error texts and POLICY.md. */
export function describeGrant(grant: Grant): string {
  const ways = [
    grant.project === undefined ? null : `project role ${grant.project} or higher`,
    grant.tenant === undefined ? null : `tenant permission ${grant.tenant}`,
    grant.application === undefined ? null : `application role ${grant.application} or higher`,
    grant.anyMembership === undefined ? null : 'any membership in the project',
    grant.anyProject === undefined ? null : `project role ${grant.anyProject} or higher in any project`,
    grant.system === 'user' ? 'any authenticated user' : null,
    grant.system === 'user' ? null : 'system role administrator',
  ]
  return ways.filter((way) => way !== null).join(', or ')
}
