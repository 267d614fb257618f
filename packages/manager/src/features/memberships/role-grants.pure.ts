// These rules decide which roles a caller may grant. Callers of these functions read the roles inside the writing
// transaction and pass them in.
import { type ProjectRole, type TenantPermission, projectRank } from '../../policy/roles.ts'

/** The caller is above a project (administrators) or above a tenant (maintainers of its project, administrators). */
export type Above = 'above'

export type ProjectGrant = {
  caller: ProjectRole | Above | null
  isSelf: boolean
  /** The current role of the target; null if the target is not a member. */
  current: ProjectRole | null
  /** The requested role; null to remove. */
  requested: ProjectRole | null
  owners: number
}

/** Returns why a change of a project membership is rejected, or null if it is permitted. */
export function findProjectGrantProblem({
  caller,
  isSelf,
  current,
  requested,
  owners,
}: ProjectGrant): string | null {
  const callerRank = caller === 'above' ? Number.POSITIVE_INFINITY : projectRank(caller)
  if (callerRank < projectRank('maintainer'))
    return 'managing memberships requires project role maintainer or higher'
  if (projectRank(requested) > callerRank) return `your role does not let you grant ${requested}`
  if (projectRank(current) > callerRank) return 'the member has a higher role than you'
  if (isSelf && caller !== 'above' && projectRank(requested) > projectRank(current))
    return 'you cannot raise your own role'
  if (current === 'owner' && requested !== 'owner' && owners <= 1)
    return 'the last owner stays; make another member owner first'
  return null
}

export type TenantRole = { name: string; permissions: readonly TenantPermission[] }

export type TenantGrant = {
  caller: TenantRole | Above | null
  current: TenantRole | null
  requested: TenantRole | null
  owners: number
}

/**
 * Returns why a change of a tenant membership is rejected, or null if it is permitted. A caller can grant or change
 * only roles whose permissions are a subset of their own, so callers cannot raise themselves. `owner` is above all
 * other roles.
 */
export function findTenantGrantProblem({ caller, current, requested, owners }: TenantGrant): string | null {
  if (caller === 'above') return null
  if (caller === null || !caller.permissions.includes('members'))
    return 'managing memberships requires the tenant permission `members`'
  if (requested !== null && !covers(caller, requested))
    return `your role does not let you grant ${requested.name}`
  if (current !== null && !covers(caller, current)) return 'the member has a higher role than you'
  if (current?.name === 'owner' && requested?.name !== 'owner' && owners <= 1)
    return 'the last owner stays; make another member owner first'
  return null
}

function covers(own: TenantRole, other: TenantRole): boolean {
  if (own.name === 'owner') return true
  return (
    other.name !== 'owner' && other.permissions.every((permission) => own.permissions.includes(permission))
  )
}
