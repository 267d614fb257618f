// English texts for sections/applications.
import { createPlural } from './plural.ts'

const plural = createPlural('en')

export const applications = {
  'applications.search': 'Name',
  'applications.name': 'Name',
  'applications.description': 'Description',
  'applications.one': 'Application',
  'applications.new': 'New application',
  'applications.editTitle': (name: string) => `Edit ${name}`,
  'applications.changed': 'Changed',
  'applications.created': 'Created',
  'applications.tenantsOn': 'Tenants on',
  'applications.endpoints': 'Endpoints',
  'applications.triggers': 'Triggers',
  'applications.backends': 'Backends',
  'applications.allBackends': 'All backends',
  'applications.live': (live: string, total: string) => `${live} of ${total} live`,
  'applications.isLive': 'live',
  'applications.isNotLive': 'not live',
  'applications.noVersion': 'version unknown',
  'applications.on': 'on',
  'applications.off': 'off',
  'applications.use': 'Use',
  'applications.history': 'History',
  'applications.noTenants': 'No tenant uses the application yet.',
  'applications.noMembers': 'The application has no members yet.',
  'applications.noBackends': 'none',
  'applications.noBackendsHint': 'No backend has registered yet. Backends register when they start.',
  'applications.noEndpoints': 'The application has no endpoints yet.',
  'applications.noTriggers': 'The application has no triggers yet.',
  'applications.empty': 'No applications yet',
  'applications.emptyHint':
    'An application is a product of the project. Tenants use it, and backends and endpoints belong to it.',
  'applications.noMatch': 'No matching applications',
  'applications.noMatchHint': 'The filter hides all applications.',
  'applications.readOnly': 'With your role, you can only view this application.',
  'applications.deleteTitle': (name: string) => `Delete application ${name}?`,
  'applications.deleteCalls':
    'An application whose endpoints have logged calls cannot be deleted. Disable its endpoints instead.',
  'applications.countTenants': (count: number) =>
    plural(count, { one: 'tenant row with its settings', other: 'tenant rows with their settings' }),
  'applications.countEndpoints': (count: number) => plural(count, { one: 'endpoint', other: 'endpoints' }),
  'applications.countTriggers': (count: number) => plural(count, { one: 'trigger', other: 'triggers' }),
  'applications.countBackends': (count: number) =>
    plural(count, { one: 'registered backend', other: 'registered backends' }),
}
