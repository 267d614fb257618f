// Commands for the people in a group and for the rules that give a group roles.
import { type Connection, graphql } from '@manager/client'
import {
  createGroupRuleDocument,
  deleteGroupRuleDocument,
  listGroupMembersDocument,
  listGroupRulesDocument,
  updateGroupRuleDocument,
} from '@manager/client/documents'
import type { Command } from 'commander'
import { confirm } from '../confirm.ts'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { type ListOptions, addListOptions, printListed } from '../list-options.ts'
import { type Row, printResult } from '../output.ts'
import type { ParentOptions } from '../parents.ts'
import { findNamedRow } from '../resource-commands.ts'
import type { Resource } from '../resource.ts'
import { groups } from '../resources/groups.ts'
import { listRows } from '../rows.ts'
import { type Scope, addScopeOptions, getScope } from '../scopes.ts'
import type { Terminal } from '../terminal.ts'

const base = { parent: null, fields: [], keys: ['id'] } as const
const people: Resource = {
  ...base,
  name: 'people',
  singular: 'person',
  description: 'People in a group',
  columns: ['user', 'name', 'email'],
  list: { document: listGroupMembersDocument, parent: 'group' },
}
const rules: Resource = {
  ...base,
  name: 'rules',
  singular: 'rule',
  description: 'Rules of groups',
  columns: ['group', 'role', 'project', 'tenant', 'app'],
  list: { document: listGroupRulesDocument },
}
const groupArgument = 'the group, by name or id'
const roleNames =
  'the role: readonly, tester, developer, maintainer or owner; in an app, readonly or normal; in a tenant, a name from svc roles list'

export function addGroupCommands(group: Command, terminal: Terminal): void {
  addPeopleCommand(group, terminal)
  addRulesCommand(group, terminal)
  addGiveCommand(group, terminal)
  addTakeCommand(group, terminal)
}

function addPeopleCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'people',
    description: 'List the people in a group.',
    examples: ['groups people Operators'],
  }).argument('<group>', groupArgument)
  addListOptions(command)
  setAction<ListOptions>(command, terminal, async (context, [named = ''], options) => {
    const { connection, row } = await findNamedRow(context, groups, named, {})
    const { filter: filters, sort: order, limit } = options
    const listing = { filters, order, limit, signal: context.signal }
    const listed = await listRows(connection, people, { id: String(row['id']) }, listing)
    printFormatted(context, people, listed, formatPerson)
  })
}

function addRulesCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'rules',
    description: 'List the rules of a group, or of all groups.',
    examples: ['groups rules', 'groups rules Operators'],
  }).argument('[group]', groupArgument)
  addListOptions(command)
  setAction<ListOptions>(command, terminal, async (context, [named], options) => {
    const { connection, filters } = await readGroupFilter(context, named)
    const { filter = [], sort: order, limit } = options
    const listing = { filters: [...filters, ...filter], order, limit, signal: context.signal }
    printFormatted(context, rules, await listRows(connection, rules, null, listing), formatRule)
  })
}

async function readGroupFilter(context: Context, named: string | undefined) {
  if (named === undefined) return { connection: await context.connect(), filters: [] }
  const { connection, row } = await findNamedRow(context, groups, named, {})
  return { connection, filters: [{ field: 'groupId', value: String(row['id']) }] }
}

function printFormatted(
  context: Context,
  { columns }: Resource,
  { rows, hasMore }: { rows: readonly Row[]; hasMore: boolean },
  format: (row: Row) => Row,
): void {
  printListed(context, columns, { rows: context.format === 'table' ? rows.map(format) : rows, hasMore })
}

const readSlug = (row: Row, field: string): unknown => (row[field] as Row | null)?.['slug']
const formatPerson = (row: Row): Row => {
  const { externalUsername: user, externalName: name, externalEmail: email } = (row['user'] ?? {}) as Row
  return { ...row, user, name, email }
}
const formatRule = (row: Row): Row => ({
  ...row,
  group: (row['group'] as Row | null)?.['displayName'],
  project: readSlug(row, 'project'),
  tenant: readSlug(row, 'tenant'),
  app: readSlug(row, 'application'),
})

function addGiveCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'give',
    description:
      'Give the people in a group a role, now and in the future. A role that was given to a person directly takes precedence.',
    examples: [
      'groups give Operators --role maintainer -p shop',
      'groups give Operators --role admin -t acme',
    ],
  })
    .argument('<group>', groupArgument)
    .requiredOption('--role <role>', roleNames)
  addScopeOptions(command)
  setAction<ParentOptions & { role: string }>(command, terminal, async (context, [named = ''], options) => {
    const { connection, row, scope, rule } = await findRule(context, named, options)
    const saved = await saveRule(context, connection, {
      group: row,
      rule,
      scope,
      role: options.role,
    })
    const sentence = `Group ${named} gives the role ${options.role} in ${scope.title}.`
    printResult(terminal, context.format, sentence, saved)
  })
}

type SavedRule = { group: Row; rule: Row | null; scope: Scope; role: string }

/** Changes the role of the rule, or creates the rule. */
async function saveRule(
  { signal }: Context,
  connection: Connection,
  { group, rule, scope, role }: SavedRule,
): Promise<Row> {
  if (rule !== null) {
    const variables = { id: String(rule['id']), role, expectedRevision: Number(rule['revision']) }
    return (await graphql(connection, updateGroupRuleDocument, variables, { signal })).updateGroupRule
  }
  const ids = { project: 'projectId', tenant: 'tenantId', app: 'applicationId' } as const
  const input = { groupId: String(group['id']), role, [ids[scope.kind]]: scope.id }
  return (await graphql(connection, createGroupRuleDocument, { input }, { signal })).createGroupRule
}

function addTakeCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'take',
    description: 'Take the role that a group gives. Roles that were given directly stay.',
    examples: ['groups take Operators -p shop'],
  })
    .argument('<group>', groupArgument)
    .option('-y, --yes', 'do not ask for confirmation')
  addScopeOptions(command)
  setAction<ParentOptions & { yes?: boolean }>(command, terminal, async (context, [named = ''], options) => {
    const { connection, scope, rule } = await findRule(context, named, options)
    if (rule === null)
      throw new Failure('notFound', `Group ${named} gives no role in ${scope.title}. See: svc groups rules`)
    const role = String(rule['role'])
    await confirm(
      terminal,
      `Take the role ${role} in ${scope.title} from group ${named}?`,
      options.yes === true,
    )
    const variables = { id: String(rule['id']), expectedRevision: Number(rule['revision']) }
    await graphql(connection, deleteGroupRuleDocument, variables, { signal: context.signal })
    printResult(terminal, context.format, `Group ${named} gives no role in ${scope.title} anymore.`, rule)
  })
}

const isOfProject = (rule: Row): boolean => rule['tenant'] === null && rule['application'] === null

/** Returns the group, the object, and the rule of the group for the object; null if there is none. */
async function findRule(context: Context, named: string, options: ParentOptions) {
  const { connection, row } = await findNamedRow(context, groups, named, {})
  const scope = await getScope(context, connection, options)
  const field = { project: 'projectId', tenant: 'tenantId', app: 'applicationId' }[scope.kind]
  const filters = [
    { field: 'groupId', value: String(row['id']) },
    { field, value: scope.id },
  ]
  const { rows } = await listRows(connection, rules, null, { filters, signal: context.signal })
  const rule = rows.find((one) => scope.kind !== 'project' || isOfProject(one)) ?? null
  return { connection, row, scope, rule }
}
