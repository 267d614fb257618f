// What each permission requires. This is the only file that says which role may do what; docs/reference/permissions/ prints it.
import type { ApplicationRole, ProjectRole, SystemRole, TenantPermission } from './roles.ts'

/** A caller holds a permission who meets one of the lines; administrators hold every permission. */
export type Requirement = {
  /** Least system role; `user` means every authenticated caller. */
  system?: SystemRole
  /** Least role in the project the thing belongs to. */
  project?: ProjectRole
  /** Permission of the caller's role in the tenant the thing belongs to. */
  tenant?: TenantPermission
  /** Least role in the application the thing belongs to. */
  application?: ApplicationRole
  /** Any membership in the project, one of its tenants or one of its applications. */
  anyMembership?: true
  /** Least role in at least one project, any of them. */
  anyProject?: ProjectRole
}

const table = {
  SELF_READ: { system: 'user' },
  // The two lists show callers only what they may see.
  USER_LIST: { system: 'user' },
  PROJECT_LIST: { system: 'user' },
  // Names nothing that is stored.
  CRON_PREVIEW: { system: 'user' },
  USER_SEARCH: { anyProject: 'maintainer' },
  // Tokens: the caller's own; administrators reach everyone's.
  ACCESS_TOKEN_READ: { system: 'user' },
  ACCESS_TOKEN_WRITE: { system: 'user' },
  USER_WRITE: { system: 'administrator' },
  PROJECT_CREATE: { system: 'administrator' },
  // What auditors ask for: all projects at once.
  AUDIT_EXPORT: { system: 'administrator' },
  EVIDENCE_READ: { system: 'administrator' },
  ACCESS_REVIEW: { system: 'administrator' },

  PROJECT_VIEW: { project: 'readonly', anyMembership: true },
  PROJECT_READ: { project: 'readonly' },
  PROJECT_WRITE: { project: 'owner' },
  PROJECT_MEMBER_READ: { project: 'readonly' },
  PROJECT_MEMBER_WRITE: { project: 'maintainer' },
  MACHINE_USER_READ: { project: 'readonly' },
  MACHINE_USER_WRITE: { project: 'maintainer' },
  AUDIT_READ: { project: 'maintainer' },

  // Lists of tenants and applications are narrowed to the caller's own where they are no member of the project.
  TENANT_LIST: { project: 'readonly', anyMembership: true },
  TENANT_READ: { project: 'readonly', tenant: 'apps.read' },
  TENANT_WRITE: { project: 'maintainer' },
  TENANT_ROLE_READ: { project: 'readonly', tenant: 'apps.read' },
  TENANT_ROLE_WRITE: { project: 'maintainer' },
  TENANT_MEMBER_READ: { project: 'readonly', tenant: 'members' },
  TENANT_MEMBER_WRITE: { project: 'maintainer', tenant: 'members' },

  APPLICATION_LIST: { project: 'readonly', anyMembership: true },
  APPLICATION_READ: { project: 'readonly', application: 'readonly' },
  APPLICATION_WRITE: { project: 'maintainer' },
  APPLICATION_MEMBER_READ: { project: 'readonly' },
  APPLICATION_MEMBER_WRITE: { project: 'maintainer' },

  TENANT2APPLICATION_READ: { project: 'readonly', tenant: 'apps.read' },
  TENANT2APPLICATION_WRITE: { project: 'maintainer' },

  // A tenant's permission covers what belongs to the tenant: its own settings and those of its rows for applications.
  SETTINGS_READ: { project: 'readonly', tenant: 'apps.configure' },
  SETTINGS_WRITE: { project: 'developer', tenant: 'apps.configure' },
  // Shows what project and application set for backends too, which members of a tenant do not see.
  EFFECTIVE_SETTINGS_READ: { project: 'readonly' },
  ENDPOINT_READ: { project: 'readonly' },
  ENDPOINT_WRITE: { project: 'maintainer' },
  ENDPOINT_PREVIEW: { project: 'tester' },
  ENDPOINT_ACCESS_READ: { project: 'readonly' },
  ENDPOINT_ACCESS_WRITE: { project: 'maintainer' },
  ESB_AUDIT_READ: { project: 'readonly' },
  TRIGGER_READ: { project: 'readonly' },
  TRIGGER_WRITE: { project: 'developer' },
  DEPLOYMENT_READ: { project: 'readonly' },
  DEPLOYMENT_WRITE: { project: 'maintainer' },
  PILET_READ: { project: 'readonly' },
  // Uploading a version, and taking one out of use.
  PILET_UPLOAD: { project: 'tester' },
  PILET_WRITE: { project: 'developer' },
  LANGUAGE_PACK_READ: { project: 'readonly' },
  LANGUAGE_PACK_WRITE: { project: 'developer' },
} as const satisfies Record<string, Requirement>

export type Permission = keyof typeof table

export const permissions: Readonly<Record<Permission, Requirement>> = table

/** The permissions as the enum that `@can` takes. */
export const permissionSdl = `enum Permission {\n${Object.keys(table)
  .map((name) => `  ${name}\n`)
  .join('')}}\n`
