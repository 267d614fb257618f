// English texts for sections/system.
import { createPlural } from './plural.ts'

const plural = createPlural('en')

export const system = {
  // people
  'system.changeRole': 'Change system role',
  'system.changeRoleOf': (name: string) => `Change the system role of ${name}`,
  'system.lastAdministrator': 'The installation has no other administrator. Appoint one first.',
  'system.noAccess':
    'This page manages the whole installation. If you need it, ask an administrator for the role.',
  'system.noAccessTitle': 'Only administrators can open this page',
  'system.noPeopleHint':
    'A text with @ is searched in e-mail addresses, other texts in names. People appear here after their first sign-in.',
  'system.ownRoleHint': 'You lose access to this page immediately. Only another administrator can undo this.',
  'system.profileHint': 'Name and e-mail address come from the sign-in of the organization.',
  'system.role.administrator': 'Has every permission in every project, and manages users',
  'system.role.user': 'Has the permissions of the memberships only',
  'system.roleChanged': (name: string, role: string) => `${name} now has the system role ${role}`,
  'system.searchPeople': 'Name, e-mail or user id',
  'system.view.people': 'People',
  'system.view.roles': 'Roles',

  // roles
  'system.held': 'yes',
  'system.needs.administrator': 'administrators',
  'system.needs.anyMembership': 'any membership in the project',
  'system.needs.anyProject': (role: string) => `project role ${role} or higher in any project`,
  'system.needs.application': (role: string) => `application role ${role} or higher`,
  'system.needs.project': (role: string) => `project role ${role} or higher`,
  'system.needs.tenant': (permission: string) => `tenant permission ${permission}`,
  'system.needs.user': 'every signed-in person',
  'system.noRight': 'No permission matches',
  'system.notHeld': 'no',
  'system.or': ', or ',
  'system.permission': 'Permission',
  'system.rightsCount': (count: number) => plural(count, { one: '# permission', other: '# permissions' }),
  'system.permissionsOf': 'Permissions of',
  'system.searchRights': 'Permission or role',

  // tokens
  'system.chooseProject': 'Choose a project',
  'system.chooseProjectHint': 'Its machine users with an old token are listed here.',
  'system.days': (count: number) => plural(count, { one: '# day', other: '# days' }),
  'system.environment': 'Environment',
  'system.expiresAny': 'any time',
  'system.expiresWithin': (days: number) => `within ${days} days`,
  'system.lastTokenUse': 'Last token use',
  'system.machineUser': 'Machine user',
  'system.noMachineUserMatches': 'No machine user matches',
  'system.noOldTokens': 'No token needs to be renewed',
  'system.noOldTokensHint': 'The list shows enabled machine users whose token is older than the chosen age.',
  'system.noTokenMatchHint':
    'The filter hides all tokens. The search covers people, token names and prefixes.',
  'system.noTokens': 'No personal access tokens',
  'system.noTokensHint': 'Tokens that people create for scripts and command-line clients appear here.',
  'system.noTokensOfPerson': 'This person has no tokens.',
  'system.olderThan': (days: number) => `older than ${days} days`,
  'system.personalTokens': 'Personal access tokens',
  'system.readMoreTokens': (count: string) => `Read ${count} more`,
  'system.rotated': 'Last rotated',
  'system.searchMachineUsers': 'Name of the machine user',
  'system.searchTokens': 'Person, token or prefix',
  'system.tokenAge': 'Token age',
  'system.tokenNotRead': 'It was deleted, or it is older than the tokens that this page has read.',
  'system.tokenStatus.any': 'any',
  'system.tokenStatus.unusable': 'expired or revoked',
  'system.tokenStatus.usable': 'usable',
  'system.tokens.machine': 'Machine users',
  'system.tokens.personal': 'Personal',
  'system.tokensPartial': (count: string, total: string) =>
    `Searched the newest ${count} of ${total} tokens. Older tokens are not in the list.`,
}
