// The rules about granting roles. Pure: callers read the roles inside the writing transaction and ask here.
import { type ProjectRole, type TenantPermission, projectRank } from '../../policy/roles.ts'

/** Above a project (administrators) or above a tenant (maintainers of its project, administrators). */
export type Above = 'above'

export type ProjectGrant = {
  caller: ProjectRole | Above | null
  isSelf: boolean
  /** The target's role now; null when they are no member yet. */
  present: ProjectRole | null
  /** The requested role; null to remove. */
  granted: ProjectRole | null
  owners: number
}

/** Why a change of a project membership is refused, or null when it is fine. */
export function refuseProjectGrant({
  caller,
  isSelf,
  present,
  granted,
  owners,
}: ProjectGrant): string | null {
  const callerRank = caller === 'above' ? Number.POSITIVE_INFINITY : projectRank(caller)
  if (callerRank < projectRank('maintainer')) return 'memberships need project role maintainer or higher'
  if (projectRank(granted) > callerRank) return `your role does not let you grant ${granted}`
  if (projectRank(present) > callerRank) return 'the member has a higher role than you'
  if (isSelf && caller !== 'above' && projectRank(granted) > projectRank(present))
    return 'you cannot raise your own role'
  if (present === 'owner' && granted !== 'owner' && owners <= 1)
    return 'the last owner stays; make another member owner first'
  return null
}

export type TenantRole = { name: string; permissions: readonly TenantPermission[] }

export type TenantGrant = {
  caller: TenantRole | Above | null
  present: TenantRole | null
  granted: TenantRole | null
  owners: number
}

/**
 * Why a change of a tenant membership is refused, or null. A role is above another when it has a permission more;
 * `owner` is above all others, whatever their permissions. So callers cannot raise themselves: their own role is the
 * bound.
 */
export function refuseTenantGrant({ caller, present, granted, owners }: TenantGrant): string | null {
  if (caller === 'above') return null
  if (caller === null || !caller.permissions.includes('members'))
    return 'memberships need tenant permission members'
  if (granted !== null && !covers(caller, granted)) return `your role does not let you grant ${granted.name}`
  if (present !== null && !covers(caller, present)) return 'the member has a higher role than you'
  if (present?.name === 'owner' && granted?.name !== 'owner' && owners <= 1)
    return 'the last owner stays; make another member owner first'
  return null
}

function covers(own: TenantRole, other: TenantRole): boolean {
  if (own.name === 'owner') return true
  return (
    other.name !== 'owner' && other.permissions.every((permission) => own.permissions.includes(permission))
  )
}
