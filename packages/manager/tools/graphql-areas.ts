// The pages of the GraphQL reference: which schema files each page describes, and the guide that it links to.

export type Area = {
  title: string
  files: readonly string[]
  guide?: readonly [string, string]
  /** Operations that are shown as examples; by default the first query and the first mutation. */
  exampleNames?: readonly string[]
}

const guides = '../../guides/maintainers'
/** The areas by the name of their page. */
export const areas: Record<string, Area> = {
  projects: {
    title: 'Projects and environments',
    files: ['projects/projects', 'environments/environments'],
    guide: ['Create a project', `${guides}/create-a-project.md`],
  },
  people: {
    title: 'People, members and roles',
    files: ['users/users', 'memberships/memberships', 'memberships/tenant-roles'],
    guide: ['Add a member', `${guides}/add-a-member.md`],
    exampleNames: ['users', 'addUserToProject'],
  },
  scim: {
    title: 'SCIM tokens and groups',
    files: ['scim/scim-tokens', 'groups/groups'],
    guide: ['Provision people', '../../guides/operators/provision-people.md'],
  },
  invitations: {
    title: 'Invitations',
    files: ['invitations/invitations'],
    guide: ['Invite a person', `${guides}/invite-a-person.md`],
    exampleNames: ['projectInvitations', 'inviteToProject'],
  },
  access: {
    title: 'Effective access',
    files: ['effective-access/effective-access'],
    guide: ['See who has access', `${guides}/see-who-has-access.md`],
    exampleNames: ['effectiveAccess'],
  },
  tenants: {
    title: 'Tenants and their applications',
    files: ['tenants/tenants', 'applications/tenant2applications'],
    guide: ['Create a project', `${guides}/create-a-project.md`],
  },
  applications: { title: 'Applications', files: ['applications/applications'] },
  settings: {
    title: 'Settings',
    files: ['settings/settings'],
    guide: ['Change settings', `${guides}/change-settings.md`],
    exampleNames: ['effectiveSettings'],
  },
  'language-packs': {
    title: 'Language packs',
    files: ['language-packs/language-packs'],
    guide: ['Translate a text', `${guides}/translate-a-text.md`],
  },
  'machine-users': {
    title: 'Machine users',
    files: ['machine-users/machine-users'],
    guide: ['Manage machine users', `${guides}/manage-machine-users.md`],
  },
  endpoints: {
    title: 'ESB endpoints and their access',
    files: ['endpoints/endpoints', 'endpoints/endpoint-access', 'endpoints/preview', 'gateway/test-calls'],
    guide: ['Call a partner from a backend', '../../guides/backends/call-a-partner.md'],
  },
  'call-log': {
    title: 'Logged calls',
    files: ['call-log/logged-calls', 'call-log/call-series'],
    guide: ['Why did my call fail?', '../../guides/backends/why-did-my-call-fail.md'],
  },
  triggers: {
    title: 'Triggers and their runs',
    files: ['triggers/triggers', 'triggers/run-series'],
    guide: ['Schedule calls', '../../guides/backends/schedule-calls.md'],
  },
  backends: {
    title: 'Registered backends',
    files: ['backends/backends'],
    guide: ['Register a backend and send heartbeats', '../../guides/backends/register.md'],
  },
  deployments: {
    title: 'Deployments and their specifications',
    files: ['deployments/deployments'],
    exampleNames: ['deploymentSpecifications', 'createDeploymentSpecification', 'wakeDeployment'],
  },
  notifications: {
    title: 'Notifications',
    files: ['inbox/inbox', 'notifications/notification-counts'],
    guide: ['Show notifications in a page', '../../guides/frontends/show-notifications.md'],
    exampleNames: ['myUnreadNotifications'],
  },
  pilets: {
    title: 'Pilet packages and feeds',
    files: ['pilets/pilets', 'pilet-feed/pilet-feed', 'pilet-feed/pilet-usage'],
    guide: ['Publish a pilet', '../../guides/frontends/publish-a-pilet.md'],
  },
  search: {
    title: 'Search',
    files: ['search/search'],
    guide: ['Find an object by its id', `${guides}/find-an-object.md`],
  },
  'access-tokens': {
    title: 'Personal access tokens',
    files: ['access-tokens/access-tokens'],
    guide: ['Manage personal access tokens', `${guides}/manage-access-tokens.md`],
  },
  audit: {
    title: 'Audit trail',
    files: ['audit/audit'],
    guide: ['Export the audit trail', '../../guides/auditors/export-the-audit-trail.md'],
  },
}
