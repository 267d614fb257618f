// The commands of `apps` that control which tenants can use an app.
import { graphql } from '@manager/client'
import {
  createTenant2ApplicationDocument,
  deleteTenant2ApplicationDocument,
  listTenant2ApplicationsDocument,
  updateTenant2ApplicationDocument,
} from '@manager/client/documents'
import type { Command } from 'commander'
import { confirm } from '../confirm.ts'
import { type Context, addCommand, setAction } from '../context.ts'
import { type ListOptions, addListOptions, printListed } from '../list-options.ts'
import { type Row, printResult } from '../output.ts'
import { type ParentOptions, addParentOptions, getProject } from '../parents.ts'
import { findNamedRow } from '../resource-commands.ts'
import type { Resource } from '../resource.ts'
import { apps } from '../resources/apps.ts'
import { tenants } from '../resources/tenants.ts'
import { getRow, listRows } from '../rows.ts'
import { findTenantApp, getTenantApp } from '../settings.ts'
import type { Terminal } from '../terminal.ts'

type Options = { project?: string; tenant: string }

export function addAppCommands(group: Command, terminal: Terminal): void {
  for (const [name, description] of [
    ['enable', 'Enable an app for a tenant.'],
    ['disable', 'Disable an app for a tenant. The settings of the app are kept.'],
  ] as const) {
    const command = addCommand(group, {
      name,
      description,
      examples: [`apps ${name} web -p shop --tenant acme`],
    })
      .argument('<app>', 'the app, by slug, name or id')
      .option('-p, --project <project>', 'the project, by slug or id (SVC_PROJECT)')
      .requiredOption('-t, --tenant <tenant>', 'the tenant, by slug or id')
    setAction<Options>(command, terminal, (context, [appKey = ''], options) =>
      setAppEnabled(context, appKey, options, name === 'enable'),
    )
  }
  addRemoveCommand(group, terminal)
  addTenantsCommand(group, terminal)
}

function addRemoveCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'remove',
    description: 'Remove an app from a tenant, and delete the settings of the app in the tenant.',
    examples: ['apps remove web -p shop --tenant acme'],
  })
    .argument('<app>', 'the app, by slug, name or id')
    .option('-p, --project <project>', 'the project, by slug or id (SVC_PROJECT)')
    .requiredOption('-t, --tenant <tenant>', 'the tenant, by slug or id')
    .option('-y, --yes', 'do not ask for confirmation')
  setAction<Options & { yes?: boolean }>(command, terminal, async (context, [appKey = ''], options) => {
    const { connection, app, tenant } = await findAppAndTenant(context, appKey, options)
    const pair = { app: String(app['id']), tenant: String(tenant['id']) }
    const { id, revision } = await getTenantApp(connection, pair, context)
    const question = `Remove app ${appKey} from tenant ${options.tenant} and delete its settings there?`
    await confirm(terminal, question, options.yes === true)
    const variables = { id, expectedRevision: revision }
    await graphql(connection, deleteTenant2ApplicationDocument, variables, { signal: context.signal })
    const sentence = `Removed app ${appKey} from tenant ${options.tenant}.`
    printResult(terminal, context.format, sentence, { app: app['slug'], tenant: tenant['slug'] })
  })
}

const tenantApps: Resource = {
  name: 'tenants',
  singular: 'tenant of an app',
  description: 'Tenants that have an app',
  parent: null,
  keys: ['id'],
  columns: ['tenant', 'enabled', 'updatedAt'],
  fields: [],
  list: { document: listTenant2ApplicationsDocument, parent: 'applicationId' },
}

function addTenantsCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'tenants',
    description: 'List the tenants that have an app, and whether it is enabled.',
    examples: ['apps tenants web -p shop'],
  }).argument('<app>', 'the app, by slug, name or id')
  addListOptions(addParentOptions(command, 'project'))
  setAction<ParentOptions & ListOptions>(command, terminal, async (context, [appKey = ''], options) => {
    const { filter: filters, sort: order, limit, ...parentOptions } = options
    const { connection, row: app } = await findNamedRow(context, apps, appKey, parentOptions)
    const listing = { filters, order, limit, signal: context.signal }
    const { rows, hasMore } = await listRows(connection, tenantApps, { id: String(app['id']) }, listing)
    const shownRows = context.format === 'table' ? rows.map(formatTenantApp) : rows
    printListed(context, tenantApps.columns, { rows: shownRows, hasMore })
  })
}

const formatTenantApp = (row: Row): Row => ({ ...row, tenant: (row['tenant'] as Row | null)?.['slug'] })

async function findAppAndTenant(context: Context, appKey: string, options: Options) {
  const { signal } = context
  const connection = await context.connect()
  const project = await getProject(context, connection, options)
  const app = await getRow(connection, apps, project, { named: appKey, signal })
  const tenant = await getRow(connection, tenants, project, { named: options.tenant, signal })
  return { connection, app, tenant }
}

async function setAppEnabled(
  context: Context,
  appKey: string,
  options: Options,
  enabled: boolean,
): Promise<void> {
  const { terminal, format, signal } = context
  const { connection, app, tenant } = await findAppAndTenant(context, appKey, options)
  const [applicationId, tenantId] = [String(app['id']), String(tenant['id'])]
  const row = await findTenantApp(connection, { app: applicationId, tenant: tenantId }, context)
  if (row === null) {
    const input = { applicationId, tenantId, enabled }
    await graphql(connection, createTenant2ApplicationDocument, { input }, { signal })
  } else if (row.enabled !== enabled)
    await graphql(
      connection,
      updateTenant2ApplicationDocument,
      { id: row.id, input: { enabled } },
      { signal },
    )
  const sentence = `${enabled ? 'Enabled' : 'Disabled'} app ${appKey} for tenant ${options.tenant}.`
  printResult(terminal, format, sentence, { app: app['slug'], tenant: tenant['slug'], enabled })
}
