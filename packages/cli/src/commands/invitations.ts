// invitations: invites people to a project, a tenant or an app, and accepts invitations.
import { type Connection, graphql } from '@manager/client'
import {
  acceptInvitationDocument,
  inviteToApplicationDocument,
  inviteToProjectDocument,
  inviteToTenantDocument,
  listApplicationInvitationsDocument,
  listProjectInvitationsDocument,
  listTenantInvitationsDocument,
  previewInvitationDocument,
  revokeInvitationDocument,
} from '@manager/client/documents'
import { type Command, Option } from 'commander'
import { confirm } from '../confirm.ts'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { type ListOptions, addListOptions, parseCount, printListed } from '../list-options.ts'
import { type Row, printResult } from '../output.ts'
import type { ParentOptions } from '../parents.ts'
import { readNamedFile } from '../private-files.ts'
import type { Resource } from '../resource.ts'
import { isId, listRows } from '../rows.ts'
import { type Scope, addScopeOptions, getScope } from '../scopes.ts'
import { writeSecretFile } from '../secret-files.ts'
import type { Terminal } from '../terminal.ts'

const base = {
  name: 'invitations',
  singular: 'invitation',
  description: 'Invitations to a project, a tenant or an app',
  keys: ['email'],
  columns: ['email', 'role', 'state', 'expiresAt', 'inviter', 'id'],
  parent: null,
  fields: [],
} as const
const invitations: Readonly<Record<Scope['kind'], Resource>> = {
  project: { ...base, list: { document: listProjectInvitationsDocument, parent: 'project' } },
  tenant: { ...base, list: { document: listTenantInvitationsDocument, parent: 'tenant' } },
  app: { ...base, list: { document: listApplicationInvitationsDocument, parent: 'application' } },
}
const states = ['OPEN', 'ACCEPTED', 'REVOKED', 'EXPIRED']

type CreateOptions = ParentOptions & {
  role: string
  linkFile: string
  expiresInDays?: number
  anyEmail?: boolean
}

export function addInvitationCommands(program: Command, terminal: Terminal): void {
  const group = addCommand(program, {
    name: 'invitations',
    description: base.description,
    examples: ['invitations list -p shop --state OPEN'],
  }).alias('invitation')
  const list = addCommand(group, {
    name: 'list',
    description: 'List the invitations. The list never contains the links.',
    examples: ['invitations list -p shop --state OPEN', 'invitations list -p shop -t acme'],
  }).addOption(new Option('--state <state>', 'list only invitations in this state').choices(states))
  addListOptions(addScopeOptions(list))
  setAction<ParentOptions & ListOptions & { state?: string }>(
    list,
    terminal,
    async (context, _args, options) => {
      const { filter: filters, sort: order, limit, state, ...scopeOptions } = options
      const connection = await context.connect()
      const scope = await getScope(context, connection, scopeOptions)
      const listing = { filters, order, signal: context.signal }
      const { rows: all } = await listRows(connection, invitations[scope.kind], scope, listing)
      // The API computes the state, so it cannot be used as a filter.
      const rows = state === undefined ? all : all.filter((row) => row['state'] === state)
      const shownRows = context.format === 'table' ? rows.map(formatInvitation) : rows
      printListed(context, base.columns, { rows: shownRows.slice(0, limit), hasMore: rows.length > limit })
    },
  )
  addCreateCommand(group, terminal)
  addRevokeCommand(group, terminal)
  addAcceptCommand(group, terminal)
}

const formatInvitation = (row: Row): Row => ({
  ...row,
  inviter: (row['inviter'] as Row | null)?.['externalUsername'],
})

function addCreateCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'create',
    description:
      'Invite a person by e-mail address. The link is written to a file, because everyone who has the link may be able to accept.',
    examples: ['invitations create ann@acme.example --role tester --link-file ann.link'],
  })
    .argument('<email>', 'the e-mail address of the person')
    .requiredOption('--role <role>', 'the role that the person gets')
    .requiredOption('--link-file <file>', 'the file for the link, readable only by you')
    .option('--expires-in-days <number>', 'the validity in days (default: 7)', parseCount)
    .option('--any-email', 'allow everyone who has the link to accept it')
  addScopeOptions(command)
  setAction<CreateOptions>(command, terminal, async (context, [email = ''], options) => {
    const connection = await context.connect()
    const scope = await getScope(context, connection, options)
    const { invitation, delivery } = await writeSecretFile(options.linkFile, async () => {
      const { link, ...rest } = await invite(connection, scope, email, options)
      return { ...rest, secret: link }
    })
    const sentence = `Invited ${email} to ${scope.title} as ${options.role}. The link is in ${options.linkFile}.${deliveryNotes[delivery] ?? ''}`
    printResult(terminal, context.format, sentence, { ...invitation, delivery })
  })
}

const deliveryNotes: Readonly<Record<string, string>> = {
  NONE: ' Send the link to the person.',
  DELIVERED: ' The Manager has handed over the link for delivery.',
  FAILED: ' The delivery of the link failed. Send the link to the person.',
}

/** Does not abort the request: the Manager could create an invitation whose link is lost. */
async function invite(connection: Connection, { kind, id }: Scope, email: string, options: CreateOptions) {
  const { role, expiresInDays, anyEmail = false } = options
  const input = {
    email,
    ...(expiresInDays === undefined ? {} : { expiresInDays }),
    ...(anyEmail ? { requireSameEmail: false } : {}),
  }
  if (kind === 'tenant') {
    const variables = { tenantID: id, input: { ...input, roleName: role } }
    return (await graphql(connection, inviteToTenantDocument, variables)).inviteToTenant
  }
  if (kind === 'app') {
    const variables = { applicationID: id, input: { ...input, role } }
    return (await graphql(connection, inviteToApplicationDocument, variables)).inviteToApplication
  }
  const variables = { projectID: id, input: { ...input, role } }
  return (await graphql(connection, inviteToProjectDocument, variables)).inviteToProject
}

function addRevokeCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'revoke',
    description: 'Revoke an open invitation. Its link stops working immediately.',
    examples: ['invitations revoke ann@acme.example -p shop'],
  })
    .argument('<invitation>', 'the invitation, by e-mail address or id')
    .option('-y, --yes', 'do not ask for confirmation')
  addScopeOptions(command)
  setAction<ParentOptions & { yes?: boolean }>(command, terminal, async (context, [named = ''], options) => {
    const connection = await context.connect()
    const scope = await getScope(context, connection, options)
    const { id, revision } = await findOpenInvitation(context, connection, scope, named)
    await confirm(terminal, `Revoke the invitation of ${named} to ${scope.title}?`, options.yes === true)
    const variables = { id: String(id), expectedRevision: Number(revision) }
    const result = await graphql(connection, revokeInvitationDocument, variables, { signal: context.signal })
    const sentence = `Revoked the invitation of ${named} to ${scope.title}.`
    printResult(terminal, context.format, sentence, result.revokeInvitation)
  })
}

async function findOpenInvitation(
  { signal }: Context,
  connection: Connection,
  scope: Scope,
  named: string,
): Promise<Row> {
  const filters = [{ field: isId(named) ? 'id' : 'email', value: named }]
  const { rows } = await listRows(connection, invitations[scope.kind], scope, { filters, signal })
  const matches = rows.filter(
    ({ id, email, state }) =>
      (id === named || String(email).toLowerCase() === named.toLowerCase()) && state === 'OPEN',
  )
  if (matches.length > 1) {
    const ids = matches.map(({ id }) => String(id)).join(', ')
    throw new Failure('usage', `${named} has ${matches.length} open invitations. Use an id: ${ids}`)
  }
  if (matches[0] !== undefined) return matches[0]
  throw new Failure(
    'notFound',
    `${named} has no open invitation to ${scope.title}. See: svc invitations list --state OPEN`,
  )
}

function addAcceptCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'accept',
    description: 'Accept an invitation. You become a member.',
    examples: ['invitations accept --link-file ann.link'],
  })
    .requiredOption('--link-file <file>', 'a file with the link that you received')
    .option('-y, --yes', 'do not ask for confirmation')
  setAction<{ linkFile: string; yes?: boolean }>(command, terminal, async (context, _args, options) => {
    const token = (await readNamedFile(options.linkFile)).trim().replace(/^.*#/s, '')
    if (!/^[\w-]{1,500}$/.test(token))
      throw new Failure('usage', `${options.linkFile} does not contain the link of an invitation.`)
    const connection = await context.connect()
    const { signal, format } = context
    const { invitation } = await graphql(connection, previewInvitationDocument, { token }, { signal })
    const { projectName, tenantName, applicationName, role, inviterName, inviterEmail } = invitation
    const name = applicationName ?? tenantName ?? projectName
    const inviter = `${inviterName} (${inviterEmail})`
    await confirm(terminal, `Join ${name} as ${role}, invited by ${inviter}?`, options.yes === true)
    const result = await graphql(connection, acceptInvitationDocument, { token }, { signal })
    printResult(terminal, format, `Joined ${name} as ${role}.`, result.acceptInvitation)
  })
}
