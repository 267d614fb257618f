// These functions throw or return nothing. A boolean result would be unsafe: without await, its promise is truthy and
// would grant access.
import { setOwner } from '../platform/postgres/owner.ts'
import { AppError, notFound, notPermitted } from '../platform/errors.ts'
import type { Actor } from './actor.ts'
import {
  type HeldRoles,
  listHeldPermissions,
  meetsRequirement,
  systemPermissions,
} from './held-permissions.ts'
import { type Permission, type Requirement, permissions } from './permissions.ts'
import { projectRoles } from './roles.ts'
import type { ScopeDefinition, Target } from './scopes.ts'

export type Policy = {
  do: Permission
  /** Arguments, parent fields or route parameters that identify the object. */
  on: readonly string[]
  /** Identifies a second object of the same kind, if the operation has two. */
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
    // Slugs can be guessed, unlike ids. Therefore, an unused slug runs the same statements as a slug that the actor
    // cannot see.
    if (policy.in.endsWith('_SLUG') && !actor.isAdministrator) await actor.readRolesIn(unknownProjectId)
    throw notFound(noun)
  }
  const roles = await readHeldRoles(actor, target.projectId)
  // Only authorized callers are charged to the project: other callers must not exhaust its share.
  if (meetsRequirement(requirement, roles, target)) return setOwner(target.projectId)
  if (!meetsRequirement(permissions[view], roles, target)) throw notFound(noun)
  throw notPermitted(`requires ${describeRequirement(requirement)}`)
}

/**
 * Authorizes a REST route. If the actor cannot see the object, the response is 403, whether or not the object exists.
 * Only administrators get 404.
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
  if (await meetsSystemRequirement(actor, requirement)) return
  throw notPermitted(`${permission} requires ${describeRequirement(requirement)}`)
}

async function meetsSystemRequirement(actor: Actor, { system, anyProject }: Requirement): Promise<boolean> {
  if (actor.isAdministrator || system === 'user') return true
  if (anyProject === undefined) return false
  return actor.hasProjectRole(projectRoles.slice(projectRoles.indexOf(anyProject)))
}

/** Returns the permissions of the actor on the object that `key` identifies, or in the system if `scope` is `SYSTEM`. */
export async function listPermissions(
  actor: Actor,
  scope: string,
  key: (string | null)[],
): Promise<readonly Permission[]> {
  if (scope === 'SYSTEM') {
    const isMet = await Promise.all(
      systemPermissions.map((name) => meetsSystemRequirement(actor, permissions[name])),
    )
    return systemPermissions.filter((_, index) => isMet[index] === true)
  }
  const target = await actor.findTarget(scope, key)
  return target === null ? [] : listPermissionsOn(actor, target)
}

/** Returns the permissions of the actor on a known object. */
export const listPermissionsOn = async (actor: Actor, target: Target): Promise<readonly Permission[]> =>
  listHeldPermissions(await readHeldRoles(actor, target.projectId), target)

const readHeldRoles = async (actor: Actor, projectId: string): Promise<HeldRoles> =>
  actor.isAdministrator ? 'administrator' : actor.readRolesIn(projectId)

/** Describes the requirement for error messages and docs/reference/permissions/. */
export function describeRequirement(requirement: Requirement): string {
  const alternatives = [
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
  return alternatives.filter((alternative) => alternative !== null).join(', or ')
}
