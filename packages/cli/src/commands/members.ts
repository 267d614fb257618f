// members: lists, adds, changes and removes the members of a project, a tenant or an app.
import { type Connection, graphql } from '@manager/client'
import {
  addUserToApplicationDocument,
  addUserToProjectDocument,
  addUserToTenantDocument,
  listApplicationMembersDocument,
  listProjectMembersDocument,
  listTenantMembersDocument,
  removeUserFromApplicationDocument,
  removeUserFromProjectDocument,
  removeUserFromTenantDocument,
  updateUserApplicationRoleDocument,
  updateUserProjectRoleDocument,
  updateUserTenantRoleDocument,
} from '@manager/client/documents'
import type { Command } from 'commander'
import { confirm } from '../confirm.ts'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { type ListOptions, addListOptions, printListed } from '../list-options.ts'
import { type Row, printResult } from '../output.ts'
import type { ParentOptions } from '../parents.ts'
import { getPersonId } from '../people.ts'
import type { Resource } from '../resource.ts'
import { deleteRow, isId, listRows, updateRow } from '../rows.ts'
import { type Scope, addScopeOptions, getScope } from '../scopes.ts'
import type { Terminal } from '../terminal.ts'

const base = {
  name: 'members',
  singular: 'member',
  description: 'Members of a project, a tenant or an app, and their roles',
  keys: ['id'],
  columns: ['user', 'name', 'email', 'role'],
  parent: null,
  fields: [],
} as const
/** The API names the role of a tenant member `roleName`. */
const convert = ({ roleName, ...row }: Row): Row =>
  roleName === undefined ? row : { ...row, role: roleName }
const members: Readonly<Record<Scope['kind'], Resource>> = {
  project: {
    ...base,
    list: { document: listProjectMembersDocument, parent: 'project' },
    update: { document: updateUserProjectRoleDocument, isFlat: true },
    delete: { document: removeUserFromProjectDocument },
  },
  tenant: {
    ...base,
    list: { document: listTenantMembersDocument, parent: 'tenant', convert },
    update: { document: updateUserTenantRoleDocument, isFlat: true },
    delete: { document: removeUserFromTenantDocument },
  },
  app: {
    ...base,
    list: { document: listApplicationMembersDocument, parent: 'application' },
    update: { document: updateUserApplicationRoleDocument, isFlat: true },
    delete: { document: removeUserFromApplicationDocument },
  },
}
const userKeys = 'the user, by e-mail address, user name or id'
const roleNames =
  'the role: readonly, tester, developer, maintainer or owner; in an app, readonly or normal; in a tenant, a name from svc roles list'

export function addMemberCommands(program: Command, terminal: Terminal): void {
  const group = addCommand(program, {
    name: 'members',
    description: base.description,
    examples: ['members list -p shop', 'members list -p shop -t acme'],
  }).alias('member')
  const list = addCommand(group, {
    name: 'list',
    description: 'List the members and their roles.',
    examples: ['members list -p shop', 'members list -p shop -a web --filter role=owner'],
  })
  addListOptions(addScopeOptions(list))
  setAction<ParentOptions & ListOptions>(list, terminal, async (context, _args, options) => {
    const { filter: filters, sort: order, limit, ...scopeOptions } = options
    const connection = await context.connect()
    const scope = await getScope(context, connection, scopeOptions)
    const listing = { filters, order, limit, signal: context.signal }
    const { rows, hasMore } = await listRows(connection, members[scope.kind], scope, listing)
    const shownRows = context.format === 'table' ? rows.map(formatMember) : rows
    printListed(context, base.columns, { rows: shownRows, hasMore })
  })
  addAddCommand(group, terminal)
  addUpdateCommand(group, terminal)
  addRemoveCommand(group, terminal)
}

const getMemberUser = (row: Row): Row => (row['user'] ?? {}) as Row
function formatMember(row: Row): Row {
  const { externalUsername: user, externalName: name, externalEmail: email } = getMemberUser(row)
  return { ...row, user, name, email }
}

function addAddCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'add',
    description: 'Add a user to a project, a tenant or an app. The user may never have signed in.',
    examples: ['members add ann@acme.example --role developer -p shop'],
  })
    .argument('<user>', userKeys)
    .requiredOption('--role <role>', roleNames)
  addScopeOptions(command)
  setAction<ParentOptions & { role: string }>(command, terminal, async (context, [named = ''], options) => {
    const connection = await context.connect()
    const scope = await getScope(context, connection, options)
    const userID = await getPersonId(connection, named, context)
    const row = await addMember(context, connection, scope, { userID, role: options.role })
    const sentence = `Added ${named} to ${scope.title} with the role ${options.role}.`
    printResult(terminal, context.format, sentence, convert(row))
  })
}

async function addMember(
  { signal }: Context,
  connection: Connection,
  { kind, id }: Scope,
  { userID, role }: { userID: string; role: string },
): Promise<Row> {
  if (kind === 'project') {
    const variables = { projectID: id, userID, role }
    return (await graphql(connection, addUserToProjectDocument, variables, { signal })).addUserToProject
  }
  if (kind === 'app') {
    const variables = { applicationID: id, userID, role }
    return (await graphql(connection, addUserToApplicationDocument, variables, { signal }))
      .addUserToApplication
  }
  const variables = { tenantID: id, userID, roleName: role }
  return (await graphql(connection, addUserToTenantDocument, variables, { signal })).addUserToTenant
}

function addUpdateCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'update',
    description: 'Change the role of a member.',
    examples: ['members update ann@acme.example --role maintainer -p shop'],
  })
    .argument('<user>', userKeys)
    .requiredOption('--role <role>', roleNames)
  addScopeOptions(command)
  setAction<ParentOptions & { role: string }>(command, terminal, async (context, [named = ''], options) => {
    const { connection, scope, row } = await findMember(context, named, options)
    const { id, revision } = row
    const values = scope.kind === 'tenant' ? { roleName: options.role } : { role: options.role }
    const change = { values, revision, signal: context.signal }
    const updatedRow = await updateRow(connection, members[scope.kind], String(id), change)
    const sentence = `Changed the role of ${named} in ${scope.title} to ${options.role}.`
    printResult(terminal, context.format, sentence, { ...row, ...updatedRow })
  })
}

function addRemoveCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'remove',
    description: 'Remove a member. Open invitations to the same object for their e-mail address are revoked.',
    examples: ['members remove ann@acme.example -p shop'],
  })
    .argument('<user>', userKeys)
    .option('-y, --yes', 'do not ask for confirmation')
  addScopeOptions(command)
  setAction<ParentOptions & { yes?: boolean }>(command, terminal, async (context, [named = ''], options) => {
    const { connection, scope, row } = await findMember(context, named, options)
    await confirm(terminal, `Remove ${named} from ${scope.title}?`, options.yes === true)
    await deleteRow(connection, members[scope.kind], row, { signal: context.signal })
    printResult(terminal, context.format, `Removed ${named} from ${scope.title}.`, row)
  })
}

/** Returns the membership of the user that the text names. */
async function findMember(context: Context, named: string, options: ParentOptions) {
  const connection = await context.connect()
  const scope = await getScope(context, connection, options)
  const filters = isId(named) ? [{ field: 'userId', value: named }] : []
  const { rows } = await listRows(connection, members[scope.kind], scope, { filters, signal: context.signal })
  const matches = rows.filter((row) => {
    const { id, externalUsername, externalEmail } = getMemberUser(row)
    return [id, externalUsername, externalEmail].includes(named)
  })
  if (matches.length > 1)
    throw new Failure('usage', `${matches.length} members are named ${named}. Use the id of the user.`)
  if (matches[0] !== undefined) return { connection, scope, row: matches[0] }
  throw new Failure('notFound', `${named} is not a member of ${scope.title}. See: svc members list`)
}
