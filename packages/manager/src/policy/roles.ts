// The order of roles. Everything else asks these functions instead of comparing names.
export const projectRoles = ['readonly', 'tester', 'developer', 'maintainer', 'owner'] as const
export type ProjectRole = (typeof projectRoles)[number]

export const applicationRoles = ['readonly', 'normal'] as const
export type ApplicationRole = (typeof applicationRoles)[number]

export const tenantPermissions = ['apps.read', 'apps.configure', 'members', 'invites'] as const
export type TenantPermission = (typeof tenantPermissions)[number]

export const systemRoles = ['user', 'administrator'] as const
export type SystemRole = (typeof systemRoles)[number]

/** Place of a project role in the order; no membership is -1, below every role. */
export const projectRank = (role: ProjectRole | null): number =>
  role === null ? -1 : projectRoles.indexOf(role)

/** Place of an application role in the order; no membership is -1. */
export const applicationRank = (role: ApplicationRole | null): number =>
  role === null ? -1 : applicationRoles.indexOf(role)
