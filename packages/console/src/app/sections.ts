// The sections of the console, each with its address and the permission that shows it. A test compares this table with
// the policy of the API.
import type { Permission } from '../generated/documents.ts'
import type { IconName } from '../kit/icon.tsx'
import type { TextKey } from '../texts/texts.ts'

export type Section = {
  readonly path: string
  readonly text: TextKey
  readonly icon: IconName
  /**
   * The permission on the project or the installation that the section requires; without it, the section is hidden.
   */
  readonly permission: Permission
}

/** Groups of project sections; the side bar shows a gap between groups. */
export const projectSections: readonly (readonly Section[])[] = [
  [
    { path: 'overview', text: 'section.overview', icon: 'overview', permission: 'PROJECT_READ' },
    { path: 'tenants', text: 'section.tenants', icon: 'tenants', permission: 'TENANT_LIST' },
    {
      path: 'applications',
      text: 'section.applications',
      icon: 'applications',
      permission: 'APPLICATION_LIST',
    },
    { path: 'access', text: 'section.access', icon: 'access', permission: 'TENANT2APPLICATION_READ' },
    { path: 'settings', text: 'section.settings', icon: 'settings', permission: 'SETTINGS_READ' },
    {
      path: 'language-packs',
      text: 'section.languagePacks',
      icon: 'language',
      permission: 'LANGUAGE_PACK_READ',
    },
  ],
  [
    { path: 'members', text: 'section.members', icon: 'members', permission: 'PROJECT_MEMBER_READ' },
    {
      path: 'machine-users',
      text: 'section.machineUsers',
      icon: 'machineUsers',
      permission: 'MACHINE_USER_READ',
    },
    {
      path: 'deployments',
      text: 'section.deployments',
      icon: 'deployments',
      permission: 'DEPLOYMENT_READ',
    },
  ],
  [
    { path: 'esb', text: 'section.esb', icon: 'esb', permission: 'ENDPOINT_READ' },
    { path: 'triggers', text: 'section.triggers', icon: 'triggers', permission: 'TRIGGER_READ' },
    { path: 'calls', text: 'section.calls', icon: 'list', permission: 'ESB_AUDIT_READ' },
    { path: 'pilets', text: 'section.pilets', icon: 'pilets', permission: 'PILET_READ' },
  ],
  [
    {
      path: 'notifications',
      text: 'section.notifications',
      icon: 'bell',
      permission: 'NOTIFICATION_STATS_READ',
    },
    { path: 'audit', text: 'section.audit', icon: 'audit', permission: 'AUDIT_READ' },
  ],
]

/** Sections for the whole installation, which administrators see. */
export const systemSections: readonly Section[] = [
  { path: 'users', text: 'section.users', icon: 'members', permission: 'USER_WRITE' },
  { path: 'tokens', text: 'section.tokens', icon: 'key', permission: 'USER_WRITE' },
  {
    path: 'provisioning',
    text: 'section.provisioning',
    icon: 'provisioning',
    permission: 'SCIM_TOKEN_READ',
  },
  { path: 'evidence', text: 'section.evidence', icon: 'list', permission: 'EVIDENCE_READ' },
  { path: 'access-review', text: 'section.accessReview', icon: 'ok', permission: 'ACCESS_REVIEW' },
]

/** Returns whether the console has this project section, so that other pages can link to it. */
export const hasSection = (path: string): boolean =>
  projectSections.some((group) => group.some((section) => section.path === path))
