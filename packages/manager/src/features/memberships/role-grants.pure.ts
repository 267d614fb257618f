// These rules decide which roles a caller may grant. Callers of these functions read the roles inside the
// writing transaction and pass the roles as arguments.
import { type ProjectRole, type TenantPermission, getProjectRank } from '../../policy/roles.ts'

/**
 * The value for a caller who is above a project (administrators) or above a tenant (maintainers of its
 * project, administrators).
 */
export type Above = 'above'

export type ProjectGrant = {
  caller: ProjectRole | Above | null
  isSelf: boolean
  /** The current role of the target; null if the target is not a member. */
  currentRole: ProjectRole | null
  /** The requested role; null to remove the membership. */
  requestedRole: ProjectRole | null
  owners: number
}

/** Returns why a change of a project membership is rejected, or null if it is permitted. */
export function findProjectGrantProblem({
  caller,
  isSelf,
  currentRole: current,
  requestedRole: requested,
  owners,
}: ProjectGrant): string | null {
  const callerRank = caller === 'above' ? Number.POSITIVE_INFINITY : getProjectRank(caller)
  if (callerRank < getProjectRank('maintainer'))
    return 'managing memberships requires project role maintainer or higher'
  if (getProjectRank(requested) > callerRank) return `your role does not let you grant ${requested}`
  if (getProjectRank(current) > callerRank) return 'the member has a higher role than you'
  if (isSelf && caller !== 'above' && getProjectRank(requested) > getProjectRank(current))
    return 'you cannot raise your own role'
  if (current === 'owner' && requested !== 'owner' && owners <= 1)
    return 'the last owner stays; make another member owner first'
  return null
}

export type TenantRole = { name: string; permissions: readonly TenantPermission[] }

export type TenantGrant = {
  caller: TenantRole | Above | null
  existingRole: TenantRole | null
  newRole: TenantRole | null
  ownerCount: number
}

/**
 * Returns why a change of a tenant membership is rejected, or null if it is permitted. Callers can grant or
 * change only roles whose permissions are a subset of their own, so they cannot raise themselves. `owner` is
 * above all other roles.
 */
export function findTenantGrantProblem({
  caller,
  existingRole: current,
  newRole: requested,
  ownerCount: owners,
}: TenantGrant): string | null {
  if (caller === 'above') return null
  if (caller === null || !caller.permissions.includes('members'))
    return 'managing memberships requires the tenant permission `members`'
  if (requested !== null && !coversRole(caller, requested))
    return `your role does not let you grant ${requested.name}`
  if (current !== null && !coversRole(caller, current)) return 'the member has a higher role than you'
  if (current?.name === 'owner' && requested?.name !== 'owner' && owners <= 1)
    return 'the last owner stays; make another member owner first'
  return null
}

function coversRole(ownRole: TenantRole, otherRole: TenantRole): boolean {
  if (ownRole.name === 'owner') return true
  return (
    otherRole.name !== 'owner' &&
    otherRole.permissions.every((permission) => ownRole.permissions.includes(permission))
  )
}
