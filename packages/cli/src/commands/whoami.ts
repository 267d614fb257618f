// whoami: shows the signed-in user and their permissions.
import { type Connection, graphql } from '@manager/client'
import {
  getApplicationByIdDocument,
  getMyPermissionsDocument,
  getProjectDocument,
  getTenantByIdDocument,
  meDocument,
} from '@manager/client/documents'
import type { Command } from 'commander'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { printRow } from '../output.ts'
import { type ParentOptions, getProject } from '../parents.ts'
import { addScopeOptions, getScope } from '../scopes.ts'
import type { Terminal } from '../terminal.ts'

type Options = ParentOptions & { can?: string | true }
type Permissions = { myPermissions: readonly string[]; myRole?: string | null; role?: string }

export function addWhoamiCommand(program: Command, terminal: Terminal): void {
  const command = addCommand(program, {
    name: 'whoami',
    description:
      'Show the signed-in user. With --can, show your permissions in the installation, or in the project, tenant or app that the options name. With a permission, exit with 1 if you do not have it.',
    examples: ['whoami', 'whoami --can -p shop', 'whoami --can tenant_write -p shop'],
  }).option('--can [permission]', 'list your permissions, or check one of them')
  addScopeOptions(command)
  setAction<Options>(command, terminal, async (context, _args, options) => {
    const connection = await context.connect()
    const { me } = await graphql(connection, meDocument, {}, { signal: context.signal })
    if (options.can === undefined) return printRow(terminal, context.format, { ...me, url: connection.url })
    await showPermissions(context, connection, options)
  })
}

async function showPermissions(context: Context, connection: Connection, options: Options): Promise<void> {
  const { terminal, format } = context
  const { can: permission } = options
  const { title, permissions } = await readPermissions(context, connection, options)
  const names = permissions.myPermissions
  if (permission === true || permission === undefined)
    return printRow(terminal, format, {
      scope: title,
      role: permissions.myRole ?? permissions.role ?? null,
      permissions: names,
    })
  const name = permission.toUpperCase()
  if (!names.includes(name)) throw new Failure('failed', `You do not have ${name} in ${title}.`)
  printRow(terminal, format, { scope: title, role: permissions.myRole ?? null, permissions: [name] })
}

async function readPermissions(
  context: Context,
  connection: Connection,
  options: Options,
): Promise<{ title: string; permissions: Permissions }> {
  const { signal } = context
  const hasScope = [options.project, options.tenant, options.app].some((value) => value !== undefined)
  if (!hasScope) {
    const { me } = await graphql(connection, getMyPermissionsDocument, {}, { signal })
    return { title: 'the installation', permissions: me }
  }
  const { kind, id, title } = await getScope(context, connection, options)
  if (kind === 'tenant') {
    const { tenantById } = await graphql(connection, getTenantByIdDocument, { id }, { signal })
    return { title, permissions: tenantById }
  }
  if (kind === 'app') {
    const { applicationById } = await graphql(connection, getApplicationByIdDocument, { id }, { signal })
    return { title, permissions: applicationById }
  }
  const { slug = '' } = await getProject(context, connection, options)
  const { project } = await graphql(connection, getProjectDocument, { slug }, { signal })
  return { title, permissions: project }
}
