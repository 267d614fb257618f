// English texts for sections/access.
import { createPlural } from './plural.ts'

const plural = createPlural('en')

export const access = {
  'access.noAccess': 'You cannot see the access matrix',
  'access.noAccessHint':
    'The matrix shows all tenants of the project, so it requires a role in the project. Ask a maintainer of the project.',
  'access.search': 'Tenant',
  'access.application': 'Application',
  'access.show': 'Rows',
  'access.showOwn': 'with own settings',
  'access.showChanged': 'with marked changes',
  'access.size': (tenants: number, applications: number, isExact: boolean) =>
    `${plural(tenants, { one: '# tenant', other: isExact ? '# tenants' : 'more than # tenants' })}, ${plural(applications, { one: '# application', other: '# applications' })}`,
  'access.on': 'on',
  'access.off': 'off',
  'access.marks': 'A click marks a change. It is saved when you apply it.',
  'access.none': 'never enabled',
  'access.legendOff': 'switched off, settings kept',
  'access.legendOwn': 'own settings',
  'access.ownCount': (count: number) =>
    plural(count, { one: 'has # own setting', other: 'has # own settings' }),
  'access.readOnly': 'With your role, you can only view the matrix.',
  'access.review': (count: number) => plural(count, { one: 'Review # change', other: 'Review # changes' }),
  'access.empty': 'The matrix is empty',
  'access.emptyTenants': 'Create a tenant first. Then choose here which applications it uses.',
  'access.emptyApplications': 'Create an application first. Then choose here which tenants use it.',
  'access.noMatch': 'No matching tenants',
  'access.noMatchHint': 'The filter hides all tenants.',
  'access.noMatchPage':
    'The filter applies to the tenants of this page. Try the next page, or clear the filter.',
  'access.preview': 'Preview',
  'access.previewNote': 'Nothing is saved yet.',
  'access.enable': (name: string) => `Enable ${name}`,
  'access.disable': (name: string) => `Disable ${name}`,
  'access.tenants': (count: number) => plural(count, { one: '# tenant', other: '# tenants' }),
  'access.unmark': (tenant: string, application: string) =>
    `Remove the change to ${application} for ${tenant}`,
  'access.effects': 'Effects',
  'access.effectMembers': (count: number) =>
    plural(count, {
      one: '# member of these tenants is affected.',
      other: '# members of these tenants are affected.',
    }),
  'access.effectAdded': (count: number) =>
    plural(count, {
      one: '# application is added without its own settings. All values come from the layers above.',
      other: '# applications are added without their own settings. All values come from the layers above.',
    }),
  'access.effectOwnApply': (count: number) =>
    plural(count, { one: '# own setting applies again.', other: '# own settings apply again.' }),
  'access.effectOwnKept': (count: number) =>
    plural(count, {
      one: '# own setting is kept for the next time.',
      other: '# own settings are kept for the next time.',
    }),
  'access.effectEnvironments': 'The changes apply immediately, in all environments.',
  'access.oneByOne':
    'The changes are saved one after another. If one fails, the others remain saved and the failed one stays here.',
  'access.apply': (count: number) => plural(count, { one: 'Apply # change', other: 'Apply # changes' }),
  'access.applying': 'Changes are being applied',
  'access.applied': (count: number) => plural(count, { one: 'Applied # change', other: 'Applied # changes' }),
  'access.failed': (count: number) =>
    plural(count, {
      one: '# change failed. The others are saved.',
      other: '# changes failed. The others are saved.',
    }),
  'access.stopped': (count: number) =>
    plural(count, {
      one: '# change failed, and the changes after it were not sent.',
      other: '# changes failed, and the changes after them were not sent.',
    }),
  'access.leaveTitle': 'Discard the marked changes?',
  'access.leaveHint':
    'The changes in the matrix are marked but not applied. They are lost when you leave the page.',
}
