// The kinds of principals in the matrix, and the objects that each can see, derived from the documented rules.
export const principals = [
  'administrator',
  'owner',
  'maintainer',
  'developer',
  'tester',
  'readonly',
  'tenant owner',
  'tenant admin',
  'tenant member',
  'application normal',
  'application readonly',
  'stranger',
  'other owner',
] as const
export type Principal = (typeof principals)[number]

export const projectRoles: Principal[] = ['owner', 'maintainer', 'developer', 'tester', 'readonly']
export const developers: Principal[] = ['owner', 'maintainer', 'developer']
export const maintainers: Principal[] = ['owner', 'maintainer']
export const tenantRoles: Principal[] = ['tenant owner', 'tenant admin', 'tenant member']
export const tenantManagers: Principal[] = ['tenant owner', 'tenant admin']
export const applicationRoles: Principal[] = ['application normal', 'application readonly']
export const members: Principal[] = [...projectRoles, ...tenantRoles, ...applicationRoles]

/**
 * The principals who can see an object of this kind in the project. For all other principals, the object does
 * not exist.
 */
export const seenBy = {
  system: [...principals],
  project: members,
  environment: projectRoles,
  tenant: [...projectRoles, ...tenantRoles],
  application: [...projectRoles, ...applicationRoles],
  row: [...projectRoles, ...tenantRoles],
  projectMembers: projectRoles,
  tenantMembers: [...projectRoles, ...tenantManagers],
  applicationMembers: projectRoles,
  tenantInvitations: [...maintainers, ...tenantManagers],
  projectInvitations: maintainers,
  machineUser: projectRoles,
  settings: [...projectRoles, ...tenantManagers],
  projectSettings: projectRoles,
  languagePack: projectRoles,
  endpoint: projectRoles,
  endpointAccess: projectRoles,
  trigger: projectRoles,
  deploymentSpecification: projectRoles,
} satisfies Record<string, Principal[]>

export const everyone: Principal[] = principals.filter((principal) => principal !== 'administrator')

export const tenantReaders = [...projectRoles, ...tenantRoles]
export const tenantStaff = [...projectRoles, ...tenantManagers]
export const applicationReaders = [...projectRoles, ...applicationRoles]
