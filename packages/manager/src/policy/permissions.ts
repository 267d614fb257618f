// Defines the requirements of each permission. Only this file defines the rights of roles;
// docs/reference/permissions/ is generated from it.
import type { ApplicationRole, ProjectRole, SystemRole, TenantPermission } from './roles.ts'

/** A caller who meets one of the conditions has the permission; administrators have every permission. */
export type Requirement = {
  /** Minimum system role; `user` means every authenticated caller. */
  system?: SystemRole
  /** Minimum role in the project of the object. */
  project?: ProjectRole
  /** Permission of the caller's role in the tenant of the object. */
  tenant?: TenantPermission
  /** Minimum role in the application of the object. */
  application?: ApplicationRole
  /** Any membership in the project, one of its tenants or one of its applications. */
  anyMembership?: true
  /** Minimum role in at least one project. */
  anyProject?: ProjectRole
}

const requirements = {
  SELF_READ: { system: 'user' },
  // These lists, and the list of a user's memberships, return only the rows that the caller may see.
  USER_LIST: { system: 'user' },
  PROJECT_LIST: { system: 'user' },
  // A search returns only objects that the caller may see.
  SEARCH: { system: 'user' },
  // The preview reads no stored data.
  CRON_PREVIEW: { system: 'user' },
  USER_SEARCH: { anyProject: 'maintainer' },
  // Callers have access to their own tokens, administrators to all tokens.
  ACCESS_TOKEN_READ: { system: 'user' },
  ACCESS_TOKEN_WRITE: { system: 'user' },
  // Both permissions cover only the caller's own notifications.
  NOTIFICATION_READ: { system: 'user' },
  NOTIFICATION_MARK: { system: 'user' },
  // The link of an invitation decides, and usually the e-mail address of the caller.
  INVITATION_ACCEPT: { system: 'user' },
  USER_WRITE: { system: 'administrator' },
  // Tokens with which identity providers create, change and deactivate people.
  SCIM_TOKEN_READ: { system: 'administrator' },
  SCIM_TOKEN_WRITE: { system: 'administrator' },
  // Groups of identity providers, and the rules that give their members roles.
  GROUP_READ: { system: 'administrator' },
  GROUP_WRITE: { system: 'administrator' },
  PROJECT_CREATE: { system: 'administrator' },
  // Reports for auditors cover all projects.
  AUDIT_EXPORT: { system: 'administrator' },
  EVIDENCE_READ: { system: 'administrator' },
  ACCESS_REVIEW: { system: 'administrator' },

  PROJECT_VIEW: { project: 'readonly', anyMembership: true },
  PROJECT_READ: { project: 'readonly' },
  PROJECT_WRITE: { project: 'owner' },
  PROJECT_MEMBER_READ: { project: 'readonly' },
  PROJECT_MEMBER_WRITE: { project: 'maintainer' },
  // Covers everyone with access to a project, tenant or application. It needs the right to read the members.
  ACCESS_READ: { project: 'readonly', tenant: 'members' },
  MACHINE_USER_READ: { project: 'readonly' },
  MACHINE_USER_WRITE: { project: 'maintainer' },
  AUDIT_READ: { project: 'maintainer' },
  AUDIT_VERIFY: { project: 'maintainer' },

  // Callers who are not project members see only their own tenants and applications in the lists.
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

  // The tenant permission covers only invitations to the tenant. Invited people are not members yet, so readers of a
  // project do not see their e-mail addresses.
  INVITATION_READ: { project: 'maintainer', tenant: 'invites' },
  INVITATION_WRITE: { project: 'maintainer', tenant: 'invites' },

  TENANT2APPLICATION_READ: { project: 'readonly', tenant: 'apps.read' },
  TENANT2APPLICATION_WRITE: { project: 'maintainer' },

  // The tenant permission covers the settings of the tenant, and the settings of applications in the tenant.
  SETTINGS_READ: { project: 'readonly', tenant: 'apps.configure' },
  SETTINGS_WRITE: { project: 'developer', tenant: 'apps.configure' },
  // Effective settings include the backend settings of project and application, which tenant members may not see.
  EFFECTIVE_SETTINGS_READ: { project: 'readonly' },
  ENDPOINT_READ: { project: 'readonly' },
  ENDPOINT_WRITE: { project: 'maintainer' },
  ENDPOINT_PREVIEW: { project: 'tester' },
  // A test call reaches the partner and uses the stored credentials.
  ENDPOINT_TEST: { project: 'maintainer' },
  ENDPOINT_ACCESS_READ: { project: 'readonly' },
  ENDPOINT_ACCESS_WRITE: { project: 'maintainer' },
  ESB_AUDIT_READ: { project: 'readonly' },
  TRIGGER_READ: { project: 'readonly' },
  TRIGGER_WRITE: { project: 'developer' },
  BACKEND_READ: { project: 'readonly' },
  // Covers starting a run now and retrying an ended run.
  TRIGGER_RUN: { project: 'developer' },
  DEPLOYMENT_READ: { project: 'readonly' },
  // Visitors wake the application through the proxy. Testers need a running application, and waking it changes no
  // configuration.
  DEPLOYMENT_WAKE: { project: 'tester' },
  DEPLOYMENT_WRITE: { project: 'maintainer' },
  PILET_READ: { project: 'readonly' },
  // PILET_UPLOAD covers uploading and disabling versions.
  PILET_UPLOAD: { project: 'tester' },
  PILET_WRITE: { project: 'developer' },
  LANGUAGE_PACK_READ: { project: 'readonly' },
  LANGUAGE_PACK_WRITE: { project: 'developer' },
  NOTIFICATION_STATS_READ: { project: 'developer' },
} as const satisfies Record<string, Requirement>

export type Permission = keyof typeof requirements

export const permissions: Readonly<Record<Permission, Requirement>> = requirements

/** The permissions as the GraphQL enum for `@can`. */
export const permissionSdl = `enum Permission {\n${Object.keys(requirements)
  .map((name) => `  ${name}\n`)
  .join('')}}\n`
