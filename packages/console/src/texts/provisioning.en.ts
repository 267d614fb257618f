// English texts for sections/provisioning.
import { createPlural } from './plural.ts'

const plural = createPlural('en')
const people = (count: number): string => plural(count, { one: '# person', other: '# people' })

export const provisioning = {
  'provisioning.view.groups': 'Groups',
  'provisioning.view.providers': 'Identity providers',
  'provisioning.view.rules': 'Rules',

  // identity providers
  'provisioning.address': 'SCIM address',
  'provisioning.copyAddress': 'Copy the SCIM address',
  'provisioning.creator': 'Created by',
  'provisioning.lifetime': (days: number) => plural(days, { one: '# day', other: '# days' }),
  'provisioning.newToken': 'New SCIM token',
  'provisioning.noMatchHint': 'The search covers names.',
  'provisioning.noTokens': 'No identity provider is connected',
  'provisioning.noTokensHint': 'Create a token. Enter it in your identity provider, with the SCIM address.',
  'provisioning.revokedAt': 'Revoked',
  'provisioning.revokeHint':
    'The Manager rejects requests of the identity provider immediately. You cannot undo this. People, groups and roles stay.',
  'provisioning.searchTokens': 'Name of the token',
  'provisioning.tokenCreated': (name: string) => `SCIM token ${name}`,
  'provisioning.tokenNameHint': 'Name the identity provider, such as “entra”.',
  'provisioning.tokenNotFoundHint': 'Check the address.',
  'provisioning.tokenUseHint': (address: string) =>
    `Enter the token in the identity provider, with the address ${address}.`,

  // groups
  'provisioning.externalId': 'External id',
  'provisioning.group': 'Group',
  'provisioning.groupId': 'Group id',
  'provisioning.noGroupMatches': 'No group matches',
  'provisioning.noGroups': 'No groups yet',
  'provisioning.noGroupsHint': 'Create a token and connect your identity provider. Its groups appear here.',
  'provisioning.noPeople': 'The group has no people.',
  'provisioning.people': 'People',
  'provisioning.peopleCount': people,
  'provisioning.searchGroups': 'Name of the group',

  // rules
  'provisioning.addRule': 'Add rule',
  'provisioning.addRuleTo': (group: string) => `Give ${group} a role`,
  'provisioning.choose.application': 'Choose an application first',
  'provisioning.choose.project': 'Choose a project first',
  'provisioning.choose.tenant': 'Choose a tenant first',
  'provisioning.deleteRuleIn': (object: string) => `Delete the rule for ${object}`,
  'provisioning.deleteRuleTitle': (group: string) => `Delete the rule of ${group}?`,
  'provisioning.noRuleMatches': 'No rule matches',
  'provisioning.noRules': 'No rules yet',
  'provisioning.noRulesHint':
    'Open a group and add a rule. The rule gives a role to all people in the group.',
  'provisioning.noRulesOfGroup': 'The group has no rules. Add a rule to give its people a role.',
  'provisioning.partOf': (kind: string, project: string) => `${kind} · ${project}`,
  'provisioning.roleIn': 'Role in',
  'provisioning.roleInObject': (role: string, object: string) => `${role} in ${object}`,
  'provisioning.rule': 'Rule',
  'provisioning.ruleAdded': (group: string, role: string) => `${group} now gives the role ${role}`,
  'provisioning.ruleDeleted': (group: string, role: string, object: string) =>
    `${group} no longer gives the role ${role} in ${object}`,
  'provisioning.ruleEffect': (count: number) =>
    `The rule applies to all people in the group, now ${people(count)}, and to people who join later. A role that is given directly takes precedence.`,
  'provisioning.ruleId': 'Rule id',
  'provisioning.ruleLoss': (count: number, role: string, object: string) =>
    count === 0
      ? `The group has no people, so the rule for the role ${role} in ${object} has no effect.`
      : `At most ${plural(count, { one: '# person loses', other: '# people lose' })} the role ${role} in ${object}.`,
  'provisioning.ruleLossHint':
    'Roles that were given directly stay. If another group gives a role, that role applies instead.',
  'provisioning.ruleNotFound': 'This rule does not exist',
  'provisioning.ruleNotFoundHint': 'It was deleted, or the address is wrong.',
  'provisioning.scope': 'Object',
}
