// The commands `apps enable` and `apps disable`, which control whether a tenant can use an app.
import { graphql } from '@manager/client'
import { createTenant2ApplicationDocument, updateTenant2ApplicationDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { type Context, addCommand, setAction } from '../context.ts'
import { printResult } from '../output.ts'
import { getProject } from '../parents.ts'
import { apps } from '../resources/apps.ts'
import { tenants } from '../resources/tenants.ts'
import { getRow } from '../rows.ts'
import { findTenantApp } from '../settings.ts'
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
}

async function setAppEnabled(
  context: Context,
  appKey: string,
  options: Options,
  enabled: boolean,
): Promise<void> {
  const { terminal, format, signal } = context
  const connection = await context.connect()
  const project = await getProject(context, connection, options)
  const app = await getRow(connection, apps, project, { named: appKey, signal })
  const tenant = await getRow(connection, tenants, project, { named: options.tenant, signal })
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
