// Converts the stored roles of a person to rows of access. The permissions are computed by the functions that the guard
// uses. Roles that the reader may not see contribute nothing.
import { computeApplicationRole } from '../../policy/application-role.ts'
import { type HeldRoles, listHeldPermissions, meetsRequirement } from '../../policy/held-permissions.ts'
import { type Permission, permissions } from '../../policy/permissions.ts'
import type { ApplicationRole, ProjectRole, TenantPermission } from '../../policy/roles.ts'

/** The kinds of roles, the most general first. */
export const reasonKinds = ['SYSTEM_ROLE', 'PROJECT_ROLE', 'TENANT_ROLE', 'APPLICATION_ROLE'] as const
export type AccessReasonKind = (typeof reasonKinds)[number]
export type AccessScope = 'SYSTEM' | 'PROJECT' | 'TENANT' | 'APPLICATION' | 'TENANT_APPLICATION'

/** A membership; `role` is its name. A membership that a group rule gives names the rule and the group. */
type Membership<Role extends string> = {
  id: string
  role: Role
  grantedAt: string
  groupRuleId: string | null
  group: string | null
}

/** The object of a row, and the stored roles of the person in it and above it. */
export type AccessRecord = {
  scope: AccessScope
  userId: string
  /** Null if `scope` is `SYSTEM`. */
  projectId: string | null
  tenantId: string | null
  applicationId: string | null
  isAdministrator: boolean
  /** False for a deactivated person, who has no access while the roles stay. */
  isActive: boolean
  inProject: Membership<ProjectRole> | null
  inTenant: (Membership<string> & { permissions: readonly TenantPermission[] }) | null
  inApplication: Membership<ApplicationRole> | null
}

/** The caller who reads the rows. */
export type Reader = {
  isSelf: boolean
  /** The roles of the caller in the project of the row; null if they were not read. Only the person of the row needs none. */
  roles: HeldRoles | null
}

/** A role as a reason. The audit entity identifies the grant in the trail. */
export type AccessReason = {
  kind: AccessReasonKind
  role: string
  membershipId: string | null
  /** The group whose rule gives the role; null if it was given directly or the reader may not see it. */
  group: string | null
  grantedAt: string | null
  /** The audit entity of the grant; null if the reader may not see who granted the role. */
  grant: { projectId: string | null; entityType: string; entityId: string } | null
}

/** A row of access as the reader sees it. Ids of objects that the reader may not see are null. */
export type AccessRow = {
  userId: string
  scope: AccessScope
  projectId: string | null
  tenantId: string | null
  applicationId: string | null
  role: string
  applicationRole: ApplicationRole | null
  permissions: readonly Permission[]
  covers: readonly AccessScope[]
  reasons: readonly AccessReason[]
  hiddenKinds: readonly AccessReasonKind[]
}

const allPermissions = Object.keys(permissions) as Permission[]

export function createAccessRow(stored: AccessRecord, reader: Reader): AccessRow {
  const view = createView(stored, reader)
  const record = view.seesProjectRoles ? stored : { ...stored, inProject: null, inApplication: null }
  const { scope, userId, projectId, tenantId, applicationId, isAdministrator, isActive } = record
  const storedApplicationRole = computeApplicationRole({
    isAdministrator,
    applicationRole: record.inApplication?.role ?? null,
    projectRole: record.inProject?.role ?? null,
    hasTenant: record.inTenant?.permissions.includes('apps.read') === true,
  })
  return {
    userId,
    scope,
    projectId,
    tenantId: view.seesTenant ? tenantId : null,
    applicationId: view.seesApplication ? applicationId : null,
    role: findRoleName(record) ?? storedApplicationRole ?? '',
    applicationRole: isActive ? storedApplicationRole : null,
    permissions: isActive ? listPermissions(record) : [],
    covers: coveredScopes[scope],
    reasons: listReasons(record, view.seesGrants),
    hiddenKinds: view.seesProjectRoles ? [] : ['PROJECT_ROLE', 'APPLICATION_ROLE'],
  }
}

const listPermissions = (record: AccessRecord): readonly Permission[] => {
  const { projectId, tenantId, applicationId } = record
  if (projectId === null) return allPermissions
  return listHeldPermissions(toHeldRoles(record), { projectId, tenantId, applicationId })
}

const coveredScopes: Record<AccessScope, AccessScope[]> = {
  SYSTEM: ['PROJECT', 'TENANT', 'APPLICATION', 'TENANT_APPLICATION'],
  PROJECT: ['TENANT', 'APPLICATION', 'TENANT_APPLICATION'],
  TENANT: [],
  APPLICATION: [],
  TENANT_APPLICATION: [],
}

/** Returns the role in the object of the row. An application in a tenant has no role of its own. */
const findRoleName = ({ scope, inProject, inTenant, inApplication }: AccessRecord): string | undefined =>
  ({
    SYSTEM: 'administrator',
    PROJECT: inProject?.role,
    TENANT: inTenant?.role,
    APPLICATION: inApplication?.role,
    TENANT_APPLICATION: undefined,
  })[scope]

const noRoles: HeldRoles = {
  projectRole: null,
  tenants: new Map(),
  tenantRoles: new Map(),
  applications: new Map(),
}

/** Returns what the reader may see of a row. */
function createView({ projectId, tenantId, applicationId, ...record }: AccessRecord, reader: Reader) {
  // The stored roles are those of the person, so they say nothing about another reader.
  const stored = { projectId, tenantId, applicationId, ...record }
  const roles = reader.roles ?? (reader.isSelf ? toHeldRoles(stored) : noRoles)
  const may = (permission: Permission, target: { tenantId?: string | null; applicationId?: string | null }) =>
    projectId !== null && meetsRequirement(permissions[permission], roles, { projectId, ...target })
  return {
    seesProjectRoles: reader.isSelf || projectId === null || may('PROJECT_MEMBER_READ', {}),
    seesGrants: reader.isSelf || roles === 'administrator' || may('AUDIT_READ', {}),
    seesTenant: may('TENANT_READ', { tenantId }),
    seesApplication:
      may('APPLICATION_READ', { applicationId }) || may('TENANT2APPLICATION_READ', { tenantId }),
  }
}

/** Returns the roles that decide about the object of the row. Roles in other objects do not affect it. */
function toHeldRoles({ tenantId, applicationId, ...record }: AccessRecord): HeldRoles {
  if (record.isAdministrator) return 'administrator'
  const { inProject, inTenant, inApplication } = record
  return {
    projectRole: inProject?.role ?? null,
    tenants: new Map(inTenant === null ? [] : [[tenantId ?? '', new Set(inTenant.permissions)]]),
    tenantRoles: new Map(inTenant === null ? [] : [[tenantId ?? '', inTenant.role]]),
    applications: new Map(inApplication === null ? [] : [[applicationId ?? '', inApplication.role]]),
  }
}

function listReasons(record: AccessRecord, seesGrants: boolean): AccessReason[] {
  const { userId, projectId, isAdministrator, inProject, inTenant, inApplication } = record
  const systemGrant = { projectId: null, entityType: 'user', entityId: userId }
  const toReason = (
    kind: AccessReasonKind,
    entityType: string,
    membership: Membership<string> | null,
  ): AccessReason[] => {
    if (membership === null) return []
    const { id, role, grantedAt, groupRuleId } = membership
    const key =
      groupRuleId === null
        ? { projectId, entityType, entityId: id }
        : { projectId, entityType: 'groupRule', entityId: groupRuleId }
    const [group, grant] = seesGrants ? [membership.group, key] : [null, null]
    return [{ kind, role, membershipId: id, group, grantedAt, grant }]
  }
  const systemReason: AccessReason = {
    kind: 'SYSTEM_ROLE',
    role: 'administrator',
    membershipId: null,
    group: null,
    grantedAt: null,
    grant: seesGrants ? systemGrant : null,
  }
  return [
    ...(isAdministrator ? [systemReason] : []),
    ...toReason('PROJECT_ROLE', 'user2project', inProject),
    ...toReason('TENANT_ROLE', 'user2tenant', inTenant),
    ...toReason('APPLICATION_ROLE', 'user2application', inApplication),
  ]
}
