// English texts for sections/machine-users.
import { createPlural } from './plural.ts'

const plural = createPlural('en')
const days = (count: number): string => plural(count, { one: '# day', other: '# days' })

export const machineUsers = {
  // list
  'machineUsers.one': 'Machine user',
  'machineUsers.new': 'New machine user',
  'machineUsers.search': 'Name, user name or id',
  'machineUsers.name': 'Name',
  'machineUsers.environment': 'Environment',
  'machineUsers.status': 'Status',
  'machineUsers.enabled': 'enabled',
  'machineUsers.disabled': 'disabled',
  'machineUsers.age': 'Token age',
  'machineUsers.toRotate': 'to rotate:',
  'machineUsers.passwordAge': 'Password age',
  'machineUsers.olderThan': (count: number) => `older than ${days(count)}`,
  'machineUsers.days': (count: number) => (count <= 0 ? '< 1 day' : days(count)),
  'machineUsers.lastUse': 'Last use',
  'machineUsers.created': 'Created',
  'machineUsers.changed': 'Changed',
  'machineUsers.empty': 'No machine users yet',
  'machineUsers.emptyHint':
    'A machine user is the account of a backend in one environment. The backend signs in with its token to call endpoints and to receive callbacks.',
  'machineUsers.noMatch': 'No machine user matches',
  'machineUsers.noMatchHint': 'The filters hide all machine users. An id must match as a whole.',
  'machineUsers.noneOld': 'No token to renew',
  'machineUsers.noneOldHint': (count: number) =>
    `No enabled machine user that matches the filters has a token older than ${days(count)}.`,

  // panel
  'machineUsers.readOnly': 'With your role, you can only view this machine user.',
  'machineUsers.credential': 'Sign-in',
  'machineUsers.tokenPrefix': 'Token that starts with',
  'machineUsers.userName': 'User name',
  'machineUsers.rotated': 'rotated',
  'machineUsers.neverRotated': 'never rotated',
  'machineUsers.useDelay': 'recorded once an hour',
  'machineUsers.isDisabled':
    'The machine user is disabled: its calls are rejected. Its credential stays valid.',
  'machineUsers.isOld': (count: number) => `The credential is ${days(count)} old.`,
  'machineUsers.rotateNow': 'Rotate it, and give the new one to the backend.',
  'machineUsers.account': 'Account',
  'machineUsers.rename': 'Rename',
  'machineUsers.renameTitle': (name: string) => `Rename ${name}`,
  'machineUsers.backends': 'Backends',
  'machineUsers.noBackends': 'No backend has registered with this machine user.',
  'machineUsers.live': 'live',
  'machineUsers.notLive': 'not live',
  'machineUsers.noVersion': 'version unknown',

  // endpoint access
  'machineUsers.access': 'Endpoint access',
  'machineUsers.allowedOf': (allowed: string, total: string) => `${allowed} of ${total}`,
  'machineUsers.change': 'Change',
  'machineUsers.showAll': 'Show all',
  'machineUsers.noAccess': 'The machine user may not call any endpoint.',
  'machineUsers.noEndpoints': 'The project has no endpoints yet.',
  'machineUsers.noEndpointMatch': 'No endpoint matches.',
  'machineUsers.searchEndpoints': 'Search endpoints',
  'machineUsers.someEndpoints': 'An application has more than 100 endpoints; only the first 100 are listed.',
  'machineUsers.accessHint': 'A switch saves immediately and applies to the next call.',
  'machineUsers.endpointOff': 'endpoint off',
  'machineUsers.offSince': (date: string) => `off since ${date}`,
  'machineUsers.allowed': (user: string, endpoint: string) => `${user} may call ${endpoint}`,
  'machineUsers.forbidden': (user: string, endpoint: string) => `${user} may no longer call ${endpoint}`,
  'machineUsers.removeAccess': (endpoint: string) => `Remove the access to ${endpoint}`,
  'machineUsers.removeAccessTitle': (endpoint: string) => `Remove the access to ${endpoint}?`,
  'machineUsers.removeAccessHint': (user: string) =>
    `Calls of ${user} to this endpoint are rejected. To keep the row, turn the switch off instead. Environment:`,
  'machineUsers.accessRemoved': (user: string, endpoint: string) =>
    `Removed the access of ${user} to ${endpoint}`,

  // create
  'machineUsers.kind': 'Sign-in',
  'machineUsers.kindToken': 'Token (recommended)',
  'machineUsers.kindPassword': 'User name and password',
  'machineUsers.kindHint':
    'The Manager generates the credential and shows it once. Use a password only for callers that cannot send a token.',
  'machineUsers.userNameHint': 'Unique in the project, without a colon.',
  'machineUsers.nameHint': 'For example, the name of the backend.',
  'machineUsers.protected': 'protected',
  'machineUsers.chooseEnvironment': 'Choose an environment first',
  'machineUsers.noEnvironments': 'The project has no environments',

  // secret
  'machineUsers.token': 'Token',
  'machineUsers.password': 'Password',
  'machineUsers.tokenTitle': (name: string) => `Token of ${name}`,
  'machineUsers.passwordTitle': (name: string) => `Password of ${name}`,
  'machineUsers.giveToken': 'Give this token to the backend. Environment:',
  'machineUsers.givePassword': (userName: string) =>
    `The caller signs in with the user name ${userName} and this password. Environment:`,
  'machineUsers.oldStopped': (time: string) => `The previous credential stopped working on ${time}.`,

  // rotate, disable, delete
  'machineUsers.rotate': 'Rotate token',
  'machineUsers.rotatePassword': 'Rotate password',
  'machineUsers.rotateTitle': (name: string) => `Rotate the token of ${name}?`,
  'machineUsers.rotatePasswordTitle': (name: string) => `Rotate the password of ${name}?`,
  'machineUsers.rotateHint':
    'The current credential stops working immediately. Callers that use it fail until they have the new one. Environment:',
  'machineUsers.lastUsed': 'Last use:',
  'machineUsers.disable': 'Disable',
  'machineUsers.disableTitle': (name: string) => `Disable ${name}?`,
  'machineUsers.disableHint':
    'Its calls are rejected immediately, and its backends receive no callbacks. The credential stays valid, so you can enable the machine user again. Environment:',
  'machineUsers.enable': 'Enable',
  'machineUsers.wasEnabled': (name: string) => `Enabled ${name}`,
  'machineUsers.wasDisabled': (name: string) => `Disabled ${name}`,
  'machineUsers.deleteTitle': (name: string) => `Delete machine user ${name}?`,
  'machineUsers.deleteHint': 'Its credential stops working immediately. Environment:',
  'machineUsers.deleteCalls':
    'A machine user with logged calls cannot be deleted, because the call log refers to it. Disable it instead.',
  'machineUsers.disableInstead': 'Disable instead',
  'machineUsers.countAccess': (count: number) =>
    plural(count, { one: 'endpoint access', other: 'endpoint accesses' }),
  'machineUsers.countBackends': (count: number) =>
    plural(count, { one: 'registered backend', other: 'registered backends' }),
}
