// What apps have besides the commands of every resource: the tenants that have them.
import { graphql } from '@manager/client'
import { createTenant2ApplicationDocument, updateTenant2ApplicationDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { type Context, addCommand, does } from '../context.ts'
import { printDone } from '../output.ts'
import { getProject } from '../parents.ts'
import { apps } from '../resources/apps.ts'
import { tenants } from '../resources/tenants.ts'
import { getRow } from '../rows.ts'
import { findTenantApp } from '../settings.ts'
import type { World } from '../world.ts'

type Options = { project?: string; tenant: string }

/** Adds `enable` and `disable`. */
export function addAppCommands(group: Command, world: World): void {
  for (const [name, description] of [
    ['enable', 'Lets a tenant have an app.'],
    ['disable', 'Takes an app from a tenant; the settings of the pair stay.'],
  ] as const) {
    const command = addCommand(group, {
      name,
      description,
      examples: [`apps ${name} web -p shop --tenant acme`],
    })
      .argument('<app>', 'its slug, name or id')
      .option('-p, --project <project>', 'the project, by slug or id (SVC_PROJECT)')
      .requiredOption('-t, --tenant <tenant>', 'the tenant, by slug or id')
    does<Options>(command, world, (context, [named = ''], options) =>
      enable(context, named, options, name === 'enable'),
    )
  }
}

async function enable(context: Context, named: string, options: Options, enabled: boolean): Promise<void> {
  const { world, format, signal } = context
  const connection = await context.connect()
  const project = await getProject(context, connection, options)
  const app = await getRow(connection, apps, project, { named, signal })
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
  const sentence = `${enabled ? 'Enabled' : 'Disabled'} app ${named} for tenant ${options.tenant}.`
  printDone(world, format, sentence, { app: app['slug'], tenant: tenant['slug'], enabled })
}
