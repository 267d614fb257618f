// English texts for sections/reach.
import { createPlural } from './plural.ts'

const plural = createPlural('en')

export const reach = {
  'reach.access': 'Access',
  'reach.accessIn': (project: string) => `Access in ${project}`,
  'reach.applicationInTenant': (application: string, tenant: string) => `${application} in ${tenant}`,
  'reach.coversAll': 'with all projects, tenants and applications',
  'reach.coversProject': 'with all tenants and applications',
  'reach.fromGroup': (reason: string, group: string) => `${reason}, through the group ${group}`,
  'reach.granted': (reason: string, person: string, date: string) =>
    `${reason}, granted by ${person} on ${date}`,
  'reach.hiddenAdministrators': 'Administrators also have access. Only administrators see who they are.',
  'reach.hiddenApplication': 'An application that you cannot see',
  'reach.hiddenMembers':
    'Members of the project and administrators also have access. Only members of the project see who they are.',
  'reach.hiddenTenant': 'A tenant that you cannot see',
  'reach.installation': 'The whole installation',
  'reach.more': 'Show more',
  'reach.noAccess': 'No access that you can see',
  'reach.nobody': 'Nobody has access, or nobody matches the search.',
  'reach.object': 'Access to',
  'reach.permissions': (count: number) => plural(count, { one: '# permission', other: '# permissions' }),
  'reach.reason': 'Reason',
  'reach.reason.APPLICATION_ROLE': (role: string) => `Role ${role} in the application`,
  'reach.reason.PROJECT_ROLE': (role: string) => `Role ${role} in the project`,
  'reach.reason.SYSTEM_ROLE': (_role: string) => 'Administrator of the installation',
  'reach.reason.TENANT_ROLE': (role: string) => `Role ${role} in the tenant`,
  'reach.scope.APPLICATION': 'Application',
  'reach.scope.PROJECT': 'Project',
  'reach.scope.SYSTEM': 'System',
  'reach.scope.TENANT': 'Tenant',
  'reach.scope.TENANT_APPLICATION': 'Application in a tenant',
  'reach.since': (reason: string, date: string) => `${reason}, since ${date}`,
  'reach.view': 'Show',
  'reach.viewMembers': 'Members',
  'reach.who': 'Who has access',
}
