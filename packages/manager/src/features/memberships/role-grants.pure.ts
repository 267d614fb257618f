// These rules decide which roles a caller may grant. Callers of these functions read the roles inside the
// writing transaction and pass the roles as arguments.
import { type ProjectRole, type TenantPermission, getProjectRank } from '../../policy/roles.ts'

/**
 * The value for a caller who is above a project (administrators) or above a tenant (maintainers of its
 * project, administrators).
 */
export type AboveScope = 'above'

export type ProjectGrant = {
  caller: ProjectRole | AboveScope | null
  isSelf: boolean
  /** The current role of the target; null if the target is not a member. */
  currentRole: ProjectRole | null
  /** Whether a group rule gives the current role. */
  isRoleOfGroup: boolean
  /** Whether a direct role is removed. The requested role is then the one that group rules give afterwards. */
  isRemoval: boolean
  /** The role after the change; null if the target is then not a member. */
  requestedRole: ProjectRole | null
  /** Number of active direct owners besides the target. */
  otherOwners: number
}

const lastOwnerProblem = 'the last owner cannot be removed or demoted; make another member owner first'
// The person would keep the role after leaving the group.
const ownGroupRoleProblem =
  'you cannot replace the role of your group by a direct role; ask another maintainer'

/** Returns why a change to a project membership is rejected, or null if it is permitted. */
export function findProjectGrantProblem({
  caller,
  isSelf,
  currentRole,
  isRoleOfGroup,
  isRemoval,
  requestedRole,
  otherOwners,
}: ProjectGrant): string | null {
  const callerRank = caller === 'above' ? Number.POSITIVE_INFINITY : getProjectRank(caller)
  if (callerRank < getProjectRank('maintainer'))
    return 'managing memberships requires project role maintainer or higher'
  if (getProjectRank(requestedRole) > callerRank) return `your role does not let you grant ${requestedRole}`
  if (getProjectRank(currentRole) > callerRank) return 'the member has a higher role than you'
  if (isSelf && caller !== 'above' && getProjectRank(requestedRole) > getProjectRank(currentRole))
    return 'you cannot raise your own role'
  if (isSelf && caller !== 'above' && isRoleOfGroup) return ownGroupRoleProblem
  // Owners by a group rule can disappear at any time, so they do not count.
  const isDirectOwner = currentRole === 'owner' && !isRoleOfGroup
  if (isDirectOwner && (isRemoval || requestedRole !== 'owner') && otherOwners === 0) return lastOwnerProblem
  return null
}

export type TenantRole = { name: string; permissions: readonly TenantPermission[] }

export type TenantGrant = {
  caller: TenantRole | AboveScope | null
  isSelf: boolean
  existingRole: TenantRole | null
  /** Whether a group rule gives the existing role. */
  isRoleOfGroup: boolean
  /** Whether a direct role is removed. The new role is then the one that group rules give afterwards. */
  isRemoval: boolean
  newRole: TenantRole | null
  /** Number of active direct owners besides the target. */
  otherOwners: number
}

/**
 * Returns why a change to a tenant membership is rejected, or null if it is permitted. Callers can grant or change
 * only roles whose permissions are a subset of their own, so they cannot gain permissions. `owner` is above all other
 * roles.
 */
export function findTenantGrantProblem({
  caller,
  isSelf,
  existingRole,
  isRoleOfGroup,
  isRemoval,
  newRole,
  otherOwners,
}: TenantGrant): string | null {
  if (caller === 'above') return null
  if (caller === null || !caller.permissions.includes('members'))
    return 'managing memberships requires the tenant permission `members`'
  if (newRole !== null && !coversRole(caller, newRole))
    return `your role does not let you grant ${newRole.name}`
  if (existingRole !== null && !coversRole(caller, existingRole))
    return 'the member has a higher role than you'
  if (isSelf && isRoleOfGroup) return ownGroupRoleProblem
  const isDirectOwner = existingRole?.name === 'owner' && !isRoleOfGroup
  if (isDirectOwner && (isRemoval || newRole?.name !== 'owner') && otherOwners === 0) return lastOwnerProblem
  return null
}

/**
 * Returns why a person may not offer a role in an invitation to a tenant, or null if it is permitted. The permission
 * `invites` is sufficient, but it does not let a person offer permissions that they do not have.
 */
export function findTenantInviteProblem(
  inviter: TenantRole | AboveScope | null,
  offeredRole: TenantRole,
): string | null {
  if (inviter === 'above') return null
  if (inviter === null || !inviter.permissions.includes('invites'))
    return 'inviting people requires the tenant permission `invites`'
  return coversRole(inviter, offeredRole) ? null : `your role does not let you grant ${offeredRole.name}`
}

function coversRole(ownRole: TenantRole, otherRole: TenantRole): boolean {
  if (ownRole.name === 'owner') return true
  return (
    otherRole.name !== 'owner' &&
    otherRole.permissions.every((permission) => ownRole.permissions.includes(permission))
  )
}
