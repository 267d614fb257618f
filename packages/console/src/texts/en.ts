// All English texts of the console. `de.ts` has the same keys; `npm run check` reports missing and unused keys. Texts
// with values are functions. Keys start with the folder that uses them; keep each group in one block. Texts that only one
// page needs can be loaded with the page: page-texts.ts.
import { overview } from './overview.en.ts'
import { tenants } from './tenants.en.ts'
import { applications } from './applications.en.ts'
import { audit } from './audit.en.ts'
import { calls } from './calls.en.ts'
import { machineUsers } from './machine-users.en.ts'
import { deployments } from './deployments.en.ts'
import { esb } from './esb.en.ts'
import { codeEditor } from './code-editor.en.ts'
import { pilets } from './pilets.en.ts'
import { triggers } from './triggers.en.ts'
import { access } from './access.en.ts'
import { invitations } from './invitations.en.ts'
import { reach } from './reach.en.ts'
import { languagePacks } from './language-packs.en.ts'
import { me } from './me.en.ts'
import { notifications } from './notifications.en.ts'
import { evidence } from './evidence.en.ts'
import { review } from './review.en.ts'
import { system } from './system.en.ts'
import { failures } from './failures.en.ts'
import { createPlural } from './plural.ts'

const plural = createPlural('en')

/** The kinds of objects that the search finds. */
const searchKinds: Readonly<Record<string, string>> = {
  project: 'project',
  tenant: 'tenant',
  application: 'application',
  environment: 'environment',
  endpoint: 'endpoint',
  trigger: 'trigger',
  triggerRun: 'trigger run',
  machineUser: 'machine user',
  languagePack: 'language pack',
  piletPackage: 'pilet',
  user: 'user',
  loggedCall: 'call',
}

export const en = {
  // kit
  'kit.cancel': 'Cancel',
  'kit.close': 'Close',
  'kit.copied': 'Copied',
  'kit.copy': 'Copy',
  'kit.copyFailed': 'The browser did not allow copying. The text is selected: copy it with the keyboard.',
  'kit.retry': 'Try again',
  'kit.save': 'Save',
  'kit.create': 'Create',
  'kit.delete': 'Delete',
  'kit.edit': 'Edit',
  'kit.goneRow': 'no longer in the list',
  'kit.loading': 'Loading …',
  'kit.required': 'required',
  'kit.copyId': 'Copy the id',
  'kit.diffAdded': 'added',
  'kit.diffBefore': 'before: ',
  'kit.diffAfter': 'after: ',
  'kit.diffRemoved': 'removed',
  'kit.done': 'Done',
  'kit.emptyValue': 'empty text',
  'kit.never': 'never',
  'kit.nextPage': 'Next page',
  'kit.previousPage': 'Previous page',
  'kit.noMatch': 'Nothing matches',
  'kit.searchIn': (label: string) => `Search ${label.toLowerCase()}`,
  'kit.noRows': 'No rows',
  'kit.range': (first: string, last: string, total: string) => `${first}–${last} of ${total}`,
  'kit.rowsPerPage': 'Rows per page',
  'kit.secretConfirmFirst': 'Confirm first that you have stored it',
  'kit.secretOnce': 'This is shown only once. Store it now; nobody can read it later.',
  'kit.secretStored': 'I have stored it',
  'kit.showAll': (characters: string) => `Show all ${characters} characters`,
  'kit.typeToConfirm': (text: string) => `Type ${text} to confirm`,

  // app
  'app.name': 'Manager',
  'app.menu': 'Menu',
  'app.system': 'System',
  'app.account': (name: string) => `Account of ${name}`,
  'app.administrator': 'Administrator',
  'app.all': 'all',
  'app.any': 'any',
  'app.allEnvironments': 'All environments',
  'app.allProjects': 'All projects',
  'app.allShort': 'all',
  'app.closeMenu': 'Close the menu',
  'app.createProject': 'Create project',
  'app.environmentFilter': (name: string) => `Environment: ${name}`,
  'app.environments': 'Environments',
  'app.findProject': 'Find a project',
  'app.home': 'Start page',
  'app.inbox': 'Notifications',
  'app.inboxAll': 'All notifications',
  'app.inboxEmpty': 'You have no unread notifications.',
  'app.inboxUnread': (count: string) => `Notifications: ${count} unread`,
  'app.language': 'Language',
  'app.markAllRead': 'Mark all as read',
  'app.markRead': 'Mark as read',
  'app.linkTo': (host: string) => `link to ${host}`,
  'app.moreProjects': 'More projects match. Type more of the name.',
  'app.noProjectMatches': 'No project matches.',
  'app.offline': 'No connection.',
  'app.offlineData': (age: string) => `The data of this page was loaded ${age}.`,
  'app.offlineWithoutData': 'This page has no data yet.',
  'app.outdated': 'A new version of the console is installed.',
  'app.outdatedHint': 'This tab has an older version. Reload it to continue.',
  'app.projectCreated': (name: string) => `Created project ${name}`,
  'app.projectName': 'Name',
  'app.projectNeedsName': 'Enter a name and a slug',
  'app.projectSlugHint': 'Part of every address of the project. Lower-case letters, digits and hyphens.',
  'app.projects': 'Projects',
  'app.search': 'Search',
  'app.searchFound': 'Press Enter to open the selected result.',
  'app.searchHint': 'Search, or paste an id',
  'app.searchKey': 'Ctrl K',
  'app.searchKind': (kind: string) => searchKinds[kind] ?? kind,
  'app.searchMore': 'More objects match. Type more.',
  'app.searchNothing': 'No object matches this text. An id must be complete.',
  'app.searchObjects': 'Objects',
  'app.searchPages': 'Pages and actions',
  'app.searchResults': 'Results',
  'app.searchTooShort': 'Type at least three characters of a name, or paste an id or a request id.',
  'app.searching': 'Searching …',
  'app.sessionEnded': 'Your session ended.',
  'app.sessionEndedHint': 'Sign in in a new tab to load and save again. This tab keeps your input.',
  'app.signOut': 'Sign out',
  'app.skipToContent': 'Skip to the content',
  'app.switchProject': 'Switch to another project',
  'app.theme': 'Theme',
  'app.theme.dark': 'Dark',
  'app.theme.light': 'Light',
  'app.theme.system': 'System',
  'app.pageNotFound': 'This page does not exist',
  'app.pageNotFoundHint': 'Check the address, or choose a section in the menu.',
  'app.backToEditing': 'Back to editing',
  'app.base': 'When you started',
  'app.chooseOne': 'Choose one',
  'app.conflict': 'conflict',
  'app.conflictSummary': (name: string, conflicts: string, others: string) =>
    `${name} saved a change while you were editing. Conflicting fields: ${conflicts}; other changed fields: ${others}. Nothing is saved until you decide.`,
  'app.discardMine': 'Discard my changes',
  'app.emptyText': '“” (empty)',
  'app.field': 'Field',
  'app.fieldsToDecide': (count: number) =>
    plural(count, { one: 'Decide # more field', other: 'Decide # more fields' }),
  'app.hiddenSecret': 'hidden secret',
  'app.notSet': 'not set',
  'app.result': 'Result',
  'app.saveResult': 'Save result',
  'app.showSecret': 'Show',
  'app.somebody': 'Another person',
  'app.theirs': 'Theirs, saved',
  'app.unchanged': 'unchanged',
  'app.yours': 'Yours, not saved',
  'app.changedBy': (name: string) => `${name} changed this while you were editing.`,
  'app.changedBySomebody': 'This was changed while you were editing.',
  'app.discard': 'Discard',
  'app.discardQuestion': 'Discard your changes?',
  'app.keepEditing': 'Keep editing',
  'app.reload': 'Reload',
  'app.retryAfter': (seconds: string) => `Try again in ${seconds} s.`,
  'app.choose': 'Choose …',
  'app.moreMatches': (count: string) => `${count} match. Type more to narrow the list.`,
  'app.person': 'Person',
  'app.personPlaceholder': 'Name or e-mail',
  'app.personMinimum': 'Type at least 2 characters.',
  'app.personSearching': 'Searching the directory …',
  'app.personNone': 'The directory has no such person.',
  'app.personDisabled': 'disabled in the directory',
  'app.personClear': 'Choose another person',
  'app.clearFilters': 'Clear filters',
  'app.consequencesUnknown': (message: string) =>
    `The Manager could not count the objects that are deleted with it: ${message}`,
  'app.copyLink': 'Copy the link',
  'app.countMemberships': (count: number) => plural(count, { one: 'membership', other: 'memberships' }),
  'app.created': (name: string) => `Created ${name}`,
  'app.deleted': (name: string) => `Deleted ${name}`,
  'app.deleteEverywhere': 'The deletion applies to all environments, including',
  'app.deleteFinal': 'You cannot undo this. The audit trail remains.',
  'app.exportCsv': 'Export CSV',
  'app.exportCancel': 'Cancel export',
  'app.exported': (count: number) => plural(count, { one: 'Exported # row', other: 'Exported # rows' }),
  'app.exportedFirst': (count: string) =>
    `Exported the first ${count} rows. Narrow the filter to export the others.`,
  'app.print': 'Print',
  'app.printEmpty': 'There are no rows.',
  'app.printBack': 'Back to the list',
  'app.printedAt': 'Printed',
  'app.printedBy': 'Printed by',
  'app.printLimit': (shown: string, total: string) =>
    `The first ${shown} of ${total} rows. Export a CSV file to get all rows.`,
  'app.printView': 'Print view',
  'app.exportFailed': (message: string) => `The export failed: ${message}`,
  'app.goneRows': (count: number) =>
    plural(count, { one: '# row is no longer in the list', other: '# rows are no longer in the list' }),
  'app.linkCopied': 'Copied the link',
  'app.more': (count: string) => `${count} more`,
  'app.newRows': (count: number, isExact: boolean) => plural(count, { other: isExact ? '# new' : '#+ new' }),
  'app.nextItem': 'Next item',
  'app.previousItem': 'Previous item',
  'app.progress': (done: string, total: string) => `${done} of ${total} …`,
  'app.saved': (name: string) => `Saved ${name}`,
  'app.slug': 'Slug',
  'app.slugChangeHint': 'Addresses and clients that use the old slug stop working.',
  'app.slugHint': 'Lower-case letters, digits and hyphens. The slug is part of addresses.',
  'app.summary': 'Summary',
  'app.undo': 'Undo',
  'app.whoChanged': 'Who changed this',
  'app.applyDays': 'Show these days',
  'app.chooseDay': 'Choose a day to continue',
  'app.fromDay': 'From',
  'app.range.1h': 'last hour',
  'app.range.24h': 'last 24 hours',
  'app.range.30d': 'last 30 days',
  'app.range.7d': 'last 7 days',
  'app.range.any': 'any',
  'app.range.since': (day: string) => `since ${day}`,
  'app.range.until': (day: string) => `until ${day}`,
  'app.reversedDays': 'The first day is after the last day',
  'app.time': 'Time',
  'app.toDay': 'To, including',

  // failures
  ...failures,

  // sections
  'section.overview': 'Overview',
  'section.tenants': 'Tenants',
  'section.applications': 'Applications',
  'section.access': 'Access matrix',
  'section.settings': 'Settings',
  'section.languagePacks': 'Language packs',
  'section.members': 'Members',
  'section.machineUsers': 'Machine users',
  'section.deployments': 'Deployments',
  'section.esb': 'ESB',
  'section.pilets': 'Pilets',
  'section.notifications': 'Notifications',
  'section.triggers': 'Triggers',
  'section.calls': 'Calls',
  'section.audit': 'Audit',
  'section.users': 'Users and roles',
  'section.tokens': 'Tokens',
  'section.provisioning': 'Provisioning',
  'section.evidence': 'Evidence',
  'section.accessReview': 'Access review',
  'section.me': 'My account',

  // projects, overview
  ...overview,

  // tenants
  ...tenants,

  // applications
  ...applications,

  // access
  ...access,

  // reach
  ...reach,

  // settings
  'settings.addKey': 'Add key',
  'settings.appliesIn': 'Applies in',
  'settings.cell': (key: string, layer: string) => `${key} in layer ${layer}`,
  'settings.chooseApplication': 'choose an application',
  'settings.chooseBoth': 'choose both',
  'settings.chooseTenant': 'choose a tenant',
  'settings.clearSearch': 'Clear search',
  'settings.comparedTenant': 'effective value',
  'settings.compareWith': 'Compare with',
  'settings.conflictTitle': 'Somebody else changed these settings',
  'settings.differs': (layer: string) => `differs, from ${layer}`,
  'settings.effective': 'Effective',
  'settings.effectiveHint': (application: string) => `value that ${application} loads`,
  'settings.effectiveSoFar': 'of the chosen layers',
  'settings.endComparison': 'End the comparison',
  'settings.from': (layer: string) => `from ${layer}`,
  'settings.hide': (key: string) => `Hide the values of ${key}`,
  'settings.key': 'Key',
  'settings.layer.application': 'Application',
  'settings.layer.project': 'Project',
  'settings.layer.tenant': 'Tenant',
  'settings.layer.tenant2application': 'Tenant × application',
  'settings.leaveHint': 'The changes are not saved. Leaving discards them.',
  'settings.leaveTitle': (count: number) =>
    plural(count, { one: 'Discard # unsaved change?', other: 'Discard # unsaved changes?' }),
  'settings.legendValue': 'value',
  'settings.legendWinner': 'wins',
  'settings.listHint': 'Separate with commas',
  'settings.mayNotWrite': 'Your role cannot change settings',
  'settings.mostSpecific': 'most specific',
  'settings.newKey': (part: string) => `New key: ${part}`,
  'settings.newKeyHint': 'Key, then Enter',
  'settings.newSecret': 'New value',
  'settings.noLayer': 'not set',
  'settings.noMatch': 'No key or value matches',
  'settings.noMatchHint': 'The search covers keys, and values that are not secret.',
  'settings.noPair': 'application not enabled',
  'settings.overridden': 'overridden',
  'settings.pairDisabled': 'most specific, switched off',
  'settings.part.backend': 'Backend',
  'settings.part.frontend': 'Frontend',
  'settings.partHint.backend': 'values that browsers never load',
  'settings.partHint.frontend': 'loaded by browsers, never put secrets here',
  'settings.reach.application': (tenants: number, application: string) =>
    `${application}, ${plural(tenants, { one: 'reaches # tenant', other: 'reaches # tenants' })}`,
  'settings.reach.project': (applications: number, tenants: number) =>
    `reaches ${plural(applications, { one: '# application', other: '# applications' })} of ${plural(tenants, { one: '# tenant', other: '# tenants' })}`,
  'settings.reach.tenant': (applications: number, tenant: string) =>
    `${tenant}, ${plural(applications, { one: 'reaches # application', other: 'reaches # applications' })}`,
  'settings.reach.tenant2application': (application: string, tenant: string) =>
    `reaches ${application} in ${tenant}`,
  'settings.reveal': (key: string) => `Show the values of ${key}`,
  'settings.review': 'Review and save',
  'settings.reviewTitle': (count: number) => plural(count, { one: 'Save # change', other: 'Save # changes' }),
  'settings.same': 'same value',
  'settings.sameEverywhere': 'Settings are the same in all environments, also in the protected one.',
  'settings.saved': (count: number, layers: string) =>
    `${plural(count, { one: 'Saved # value', other: 'Saved # values' })}: ${layers}`,
  'settings.search': 'Find a key or value',
  'settings.setEmpty': 'Set an empty value',
  'settings.showOverridden': 'Overridden values',
  'settings.showUnset': 'Unset keys',
  'settings.undo': (cell: string) => `Undo the change of ${cell}`,
  'settings.unsaved': (count: number) =>
    plural(count, { one: '# unsaved change', other: '# unsaved changes' }),
  'settings.unset': 'Remove from this layer',
  'settings.unsetValue': 'removed, inherits',
  'settings.was': 'was',
  'settings.whoChanged': (layer: string) => `Who changed the layer ${layer}`,

  // members
  'members.aboveOwnRole': (role: string) => `Above your own role ${role}`,
  'members.add': 'Add member',
  'members.added': (person: string, object: string, role: string) =>
    `Added ${person} to ${object} as ${role}`,
  'members.addTo': (object: string) => `Add a member to ${object}`,
  'members.applicationRole.normal': 'Uses the application',
  'members.applicationRole.readonly': 'Reads the application',
  'members.changed': (person: string, object: string, role: string) =>
    `${person} is now ${role} in ${object}`,
  'members.changedAt': 'Changed',
  'members.changeRole': 'Change role',
  'members.changeRoleIn': (object: string) => `Change the role in ${object}`,
  'members.changeRoleOf': (person: string, object: string) => `Change the role of ${person} in ${object}`,
  'members.choose.application': 'Choose an application',
  'members.choose.tenant': 'Choose a tenant',
  'members.chooseHint': 'Its members are listed here.',
  'members.choosePerson': 'Choose a person first',
  'members.chooseRole': 'Choose a role first',
  'members.clearFilters': 'Clear filters',
  'members.empty': 'No members yet',
  'members.emptyHint.application': 'Add people who use this application in all of its tenants.',
  'members.emptyHint.project': 'Add people who maintain, develop or test this project.',
  'members.emptyHint.tenant': 'Add people of this customer, and decide what they may do.',
  'members.group': 'Group',
  'members.groupChangeHint':
    'A group gives this role. The role that you save is given directly and takes precedence.',
  'members.groupHint': 'A group gives this role. A role that is given directly takes precedence.',
  'members.groupRemoveHint':
    'A group gives this role. An administrator can delete the rule of the group, or remove the person from the group.',
  'members.id': 'User id',
  'members.in.application': 'Applications',
  'members.in.project': 'Projects',
  'members.in.tenant': 'Tenants',
  'members.kind': 'Members of',
  'members.lose.application': (person: string, role: string, object: string) =>
    `${person} loses the role ${role} in the application ${object}. Other memberships stay.`,
  'members.lose.project': (person: string, role: string, object: string) =>
    `${person} loses the role ${role} in the project ${object}. Memberships of tenants and applications stay; remove them separately.`,
  'members.lose.tenant': (person: string, role: string, object: string) =>
    `${person} loses the role ${role} in the tenant ${object}, and with it the applications of the tenant. Other memberships stay.`,
  'members.mayNotAdd': 'Only maintainers can add members',
  'members.more': (count: string) => `and ${count} more`,
  'members.noMatch': 'Nobody matches the filters',
  'members.noMatchHint': 'A text with @ is searched in e-mail addresses, other texts in names.',
  'members.noneOfKind': 'None',
  'members.noPermissions': 'No permissions',
  'members.of.application': 'Application',
  'members.of.project': 'Project',
  'members.of.tenant': 'Tenant',
  'members.person': 'Person',
  'members.removed': (person: string, object: string) => `Removed ${person} from ${object}`,
  'members.removeFrom': (object: string) => `Remove from ${object}`,
  'members.removeTitle': (person: string, object: string) => `Remove ${person} from ${object}?`,
  'members.role': 'Role',
  'members.role.developer': 'Also changes settings, triggers and language packs',
  'members.role.maintainer': 'Also manages tenants, applications, members and machine users',
  'members.role.owner': 'Also changes and deletes the project',
  'members.role.readonly': 'Reads the project and its logs',
  'members.role.tester': 'Also previews templates and uploads pilets',
  'members.roles': 'Roles',
  'members.sameRole': 'This is the current role',
  'members.search': 'Name or e-mail',
  'members.systemRole': 'System role',
  'members.thisProject': 'this project',
  'members.userName': 'User name',
  'members.you': (name: string) => `${name} (you)`,

  // language-packs
  ...invitations,
  ...languagePacks,

  // machine-users
  ...machineUsers,

  // deployments
  ...deployments,

  // pilets
  ...pilets,

  // notifications
  ...notifications,

  // triggers
  ...triggers,
  // calls
  ...calls,

  // audit
  ...audit,

  // code-editor
  ...codeEditor,

  // esb
  ...esb,

  // system
  ...system,

  // evidence
  ...evidence,

  // review
  ...review,

  // me
  ...me,
}
