// Defines the roles in ascending order. Other code calls these functions instead of comparing role names.
export const projectRoles = ['readonly', 'tester', 'developer', 'maintainer', 'owner'] as const
export type ProjectRole = (typeof projectRoles)[number]

export const applicationRoles = ['readonly', 'normal'] as const
export type ApplicationRole = (typeof applicationRoles)[number]

export const tenantPermissions = ['apps.read', 'apps.configure', 'members', 'invites'] as const
export type TenantPermission = (typeof tenantPermissions)[number]

export const systemRoles = ['user', 'administrator'] as const
export type SystemRole = (typeof systemRoles)[number]

/** Returns the rank of a project role; -1, below every role, if there is no membership. */
export const getProjectRank = (role: ProjectRole | null): number =>
  role === null ? -1 : projectRoles.indexOf(role)

/** Returns the rank of an application role; -1 if there is no membership. */
export const getApplicationRank = (role: ApplicationRole | null): number =>
  role === null ? -1 : applicationRoles.indexOf(role)
