// English texts for sections/tenants.
import { createPlural } from './plural.ts'

const plural = createPlural('en')

export const tenants = {
  'tenants.search': 'Name, slug or id',
  'tenants.name': 'Name',
  'tenants.mode': 'Mode',
  'tenants.modeShared': 'shared',
  'tenants.modeDedicated': 'dedicated',
  'tenants.apps': 'Apps',
  'tenants.members': 'Members',
  'tenants.changed': 'Changed',
  'tenants.one': 'Tenant',
  'tenants.new': 'New tenant',
  'tenants.editTitle': (name: string) => `Edit ${name}`,
  'tenants.empty': 'No tenants yet',
  'tenants.emptyHint':
    'A tenant is a customer organization. It uses applications of the project and has its own members and settings.',
  'tenants.noMatch': 'No matching tenants',
  'tenants.noMatchHint': 'The filter hides all tenants. A slug or an id must match as a whole.',
  'tenants.readOnly': 'With your role, you can only view this tenant.',
  'tenants.roles': 'Roles',
  'tenants.ofOn': (enabled: string, total: string) => `${enabled} of ${total} on`,
  'tenants.offSince': (date: string) => `off since ${date}`,
  'tenants.neverAdded': 'never added',
  'tenants.inheritsAll': 'inherits all',
  'tenants.ownSettingsCount': (count: number) =>
    plural(count, { one: '# own setting', other: '# own settings' }),
  'tenants.noApplications': 'The project has no applications yet.',
  'tenants.searchApplications': 'Search applications',
  'tenants.noApplicationMatch': 'No matching applications.',
  'tenants.applicationsHint':
    'A switch saves immediately. An application keeps its own settings while it is off.',
  'tenants.enabled': (application: string, tenant: string) => `Enabled ${application} for ${tenant}`,
  'tenants.disabled': (application: string, tenant: string) => `Disabled ${application} for ${tenant}`,
  'tenants.removeApplication': (name: string) => `Remove ${name}`,
  'tenants.removeTitle': (application: string, tenant: string) => `Remove ${application} from ${tenant}?`,
  'tenants.removeWithSettings': (count: number) =>
    plural(count, {
      one: 'The tenant can no longer use the application, and # own setting is deleted. To keep it, disable the application instead.',
      other:
        'The tenant can no longer use the application, and # own settings are deleted. To keep them, disable the application instead.',
    }),
  'tenants.removeWithoutSettings':
    'The tenant can no longer use the application. It has no settings of this tenant, so nothing else is lost.',
  'tenants.removed': (application: string, tenant: string) => `Removed ${application} from ${tenant}`,
  'tenants.addMember': 'Add member',
  'tenants.addMemberTitle': (tenant: string) => `Add a member to ${tenant}`,
  'tenants.addMemberFirst': 'Choose a person first',
  'tenants.memberAdded': (name: string, tenant: string) => `Added ${name} to ${tenant}`,
  'tenants.memberRemoved': (name: string, tenant: string) => `Removed ${name} from ${tenant}`,
  'tenants.noMembers': 'The tenant has no members yet.',
  'tenants.noMemberMatch': 'No matching members.',
  'tenants.searchMembers': 'Search members by name',
  'tenants.removeMember': (name: string) => `Remove ${name}`,
  'tenants.removeMemberTitle': (name: string, tenant: string) => `Remove ${name} from ${tenant}?`,
  'tenants.removeMemberHint': (role: string) =>
    `The person loses the role ${role} and the access that depends on it. You can add the person again.`,
  'tenants.role': 'Role',
  'tenants.roleOf': (name: string) => `Role of ${name}`,
  'tenants.roleChanged': (name: string, role: string) => `Gave ${name} the role ${role}`,
  'tenants.newRole': 'New role',
  'tenants.editRole': (name: string) => `Edit role ${name}`,
  'tenants.deleteRole': (name: string) => `Delete role ${name}`,
  'tenants.deleteRoleTitle': (name: string) => `Delete role ${name}?`,
  'tenants.deleteRoleUnused': 'No member has this role.',
  'tenants.deleteRoleUsed': (count: number) =>
    plural(count, {
      one: '# member has this role. Give the member another role first; until then the role cannot be deleted.',
      other: '# members have this role. Give them another role first; until then the role cannot be deleted.',
    }),
  'tenants.rolesHint':
    'Every tenant has the roles member, admin and owner. They cannot be renamed or deleted.',
  'tenants.seeded': 'built in',
  'tenants.seededHint': 'Built-in roles cannot be renamed.',
  'tenants.permissions': 'Permissions',
  'tenants.noPermissions': 'no permissions',
  'tenants.permissionAppsRead': 'Read the tenant and its applications',
  'tenants.permissionAppsConfigure': 'Read and change settings',
  'tenants.permissionMembers': 'Manage members',
  'tenants.permissionInvites': 'Invite people',
  'tenants.ownSettings': 'Settings of this tenant',
  'tenants.applicationSettings': 'Settings of individual applications',
  'tenants.keys': (count: number) => plural(count, { one: '# key', other: '# keys' }),
  'tenants.noSettings': 'The tenant sets nothing itself. It inherits all values.',
  'tenants.emptyText': 'empty text',
  'tenants.openSettings': 'Open settings',
  'tenants.copySettings': 'Copy configuration',
  'tenants.copyTitle': (name: string) => `Copy configuration to ${name}`,
  'tenants.copyHint':
    'The settings of another tenant replace those of the chosen applications. Applications stay on or off.',
  'tenants.copySource': 'Copy from tenant',
  'tenants.copyNothing': 'Nothing to copy',
  'tenants.copyNothingHint': 'The two tenants have no application in common.',
  'tenants.copyBrings': (count: number) =>
    plural(count, { one: 'brings # setting', other: 'brings # settings' }),
  'tenants.copyReplaces': (count: number) => `replaces ${count}`,
  'tenants.copyNoSource': 'Choose the tenant to copy from',
  'tenants.copyNoChoice': 'Choose at least one application',
  'tenants.copySubmit': (count: number) =>
    plural(count, { one: 'Copy # application', other: 'Copy # applications' }),
  'tenants.copied': (count: number, tenant: string) =>
    plural(count, { one: 'Copied settings of # application', other: 'Copied settings of # applications' }) +
    ` to ${tenant}`,
  'tenants.copyFailed': (name: string, message: string) => `${name} was not copied: ${message}`,
  'tenants.deleteTitle': (name: string) => `Delete tenant ${name}?`,
  'tenants.countRows': (count: number) =>
    plural(count, { one: 'link to an application', other: 'links to applications' }),
  'tenants.countSettings': (count: number) =>
    plural(count, { one: 'setting of the tenant', other: 'settings of the tenant' }),
  'tenants.countApplicationSettings': (count: number) =>
    plural(count, { one: 'own setting of applications', other: 'own settings of applications' }),
  'tenants.countRoles': (count: number) => plural(count, { one: 'role', other: 'roles' }),
}
