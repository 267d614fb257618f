// settings: shows and changes the settings of one layer, and shows the effective settings.
import { type Connection, graphql } from '@manager/client'
import { type GetEffectiveSettingsResult, getEffectiveSettingsDocument } from '@manager/client/documents'
import { type Command, InvalidArgumentError } from 'commander'
import { type Color, createPaint } from '../colors.ts'
import { confirm } from '../confirm.ts'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import type { Pair } from '../field-options.ts'
import type { Format } from '../format.ts'
import { parseList } from '../list-options.ts'
import { formatCell, printResult, printRow, serialize, formatTable } from '../output.ts'
import { getProject } from '../parents.ts'
import { apps } from '../resources/apps.ts'
import { tenants } from '../resources/tenants.ts'
import { getRow } from '../rows.ts'
import {
  type Layer,
  type SettingsChange,
  clearSettings,
  ensureTenantAppSettings,
  getTenantApp,
  readSettings,
  updateSettings,
  toPrintableSettings,
} from '../settings.ts'
import type { Terminal } from '../terminal.ts'

export type LayerOptions = { project?: string; tenant?: string; app?: string }
type UpdateOptions = LayerOptions & {
  modules?: string[]
  themes?: string[]
  defaultTheme?: string
  locales?: string[]
  defaultLocale?: string
  backendPair?: Pair[]
  frontendPair?: Pair[]
}

export function addSettingsCommands(program: Command, terminal: Terminal): Command {
  const group = addCommand(program, {
    name: 'settings',
    description: 'Settings of a project, a tenant, an app, or an app in a tenant',
    examples: ['settings effective -p shop --tenant acme --app web'],
  })
  setAction<LayerOptions>(
    addLayerOptions(
      addCommand(group, {
        name: 'get',
        description: 'Show the settings of one layer.',
        examples: ['settings get -p shop', 'settings get -p shop --tenant acme --app web'],
      }),
    ),
    terminal,
    async (context, _args, options) => {
      const { connection, layer } = await getLayer(context, options, 'find')
      printRow(terminal, context.format, toPrintableSettings(await readSettings(connection, layer, context)))
    },
  )
  addUpdateCommand(group, terminal)
  setAction<LayerOptions & { yes?: boolean }>(
    addLayerOptions(
      addCommand(group, {
        name: 'clear',
        description: 'Clear the settings of a layer. All settings are inherited again.',
        examples: ['settings clear -p shop --tenant acme'],
      }).option('-y, --yes', 'do not ask for confirmation'),
    ),
    terminal,
    async (context, _args, options) => {
      const { connection, layer, name } = await getLayer(context, options, 'find')
      await confirm(terminal, `Clear the settings of ${name}?`, options.yes === true)
      await clearSettings(connection, layer, context)
      printResult(terminal, context.format, `Cleared settings of ${name}.`, {})
    },
  )
  const effective = addCommand(group, {
    name: 'effective',
    description: 'Show the effective settings of an app in a tenant, and the layer of each value.',
    examples: ['settings effective -p shop --tenant acme --app web'],
  })
  setAction<LayerOptions>(addLayerOptions(effective), terminal, showEffectiveSettings)
  return group
}

const addLayerOptions = (command: Command): Command =>
  command
    .option('-p, --project <project>', 'the project, by slug or id (SVC_PROJECT)')
    .option('-t, --tenant <tenant>', 'a tenant of the project, by slug or id')
    .option('-a, --app <app>', 'an app of the project, by slug or id')

function addUpdateCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'update',
    description:
      'Change the settings of a layer. Other settings are kept. To inherit a setting again, pass an empty value.',
    examples: [
      'settings update -p shop --modules cart,search',
      'settings update -p shop --tenant acme --frontend-pair color=red',
    ],
  })
  addLayerOptions(command)
    .option('--modules <names>', 'the enabled modules, separated by commas', parseList)
    .option('--backend-pair <key=value>', 'a backend key-value pair; may be repeated', addPair)
    .option('--themes <names>', 'the enabled themes, separated by commas', parseList)
    .option('--default-theme <name>', 'the default theme')
    .option('--locales <names>', 'the enabled locales, separated by commas', parseList)
    .option('--default-locale <name>', 'the default locale')
    .option('--frontend-pair <key=value>', 'a frontend key-value pair; may be repeated', addPair)
  setAction<UpdateOptions>(command, terminal, async (context, _args, options) => {
    const change = createChange(options)
    if (Object.values(change).every((part) => Object.keys(part).length === 0))
      throw new Failure(
        'usage',
        'Nothing to change. Pass at least one option; see svc settings update --help.',
      )
    const { connection, layer, name, inherited } = await getLayer(context, options, 'ensure')
    const settings = await updateSettings(connection, layer, { ...change, inherited, signal: context.signal })
    printResult(terminal, context.format, `Updated settings of ${name}.`, toPrintableSettings(settings))
  })
}

const omitUndefined = (values: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

function createChange(options: UpdateOptions): SettingsChange {
  return {
    backend: omitUndefined({ EnabledModules: options.modules, KeyValuePairs: options.backendPair }),
    frontend: omitUndefined({
      EnabledThemes: options.themes,
      DefaultTheme: options.defaultTheme,
      EnabledLocales: options.locales,
      DefaultLocale: options.defaultLocale,
      KeyValuePairs: options.frontendPair,
    }),
  }
}

type NamedLayer = {
  connection: Connection
  layer: Layer
  /** The name of the layer's owner, for messages. */
  name: string
  /** The layers that this layer inherits from, nearest first. */
  inherited: Layer[]
}

/**
 * Returns the most specific layer that the options name. With `ensure`, creates the layer of an app in a
 * tenant if it does not exist.
 */
export async function getLayer(
  context: Context,
  options: LayerOptions,
  mode: 'find' | 'ensure',
): Promise<NamedLayer> {
  const connection = await context.connect()
  const owners = await getOwners(context, connection, options)
  const [project, tenant, application] = [
    { project: owners.project.id },
    owners.tenant && { tenant: owners.tenant.id },
    owners.app && { application: owners.app.id },
  ]
  const name = formatOwner(owners)
  if (tenant === null || application === null) {
    const layer = tenant ?? application ?? project
    return { connection, layer, name, inherited: layer === project ? [] : [project] }
  }
  const pair = { tenant: tenant.tenant, app: application.application }
  const { id } = await getTenantApp(connection, pair, context)
  if (mode === 'ensure') await ensureTenantAppSettings(connection, id, context)
  const layer = { tenant2application: id }
  return { connection, layer, name, inherited: [tenant, application, project] }
}

type Owners = Awaited<ReturnType<typeof getOwners>>

function formatOwner({ project, tenant, app }: Owners): string {
  if (app === null) return tenant === null ? `project ${project.slug}` : `tenant ${tenant.slug}`
  return tenant === null ? `app ${app.slug}` : `app ${app.slug} for tenant ${tenant.slug}`
}

async function getOwners(context: Context, connection: Connection, options: LayerOptions) {
  const project = await getProject(context, connection, options)
  const findOwner = async (resource: typeof apps, named: string | undefined) => {
    if (named === undefined) return null
    const { id, slug } = await getRow(connection, resource, project, { named, signal: context.signal })
    return { id: String(id), slug: String(slug) }
  }
  return {
    project,
    tenant: await findOwner(tenants, options.tenant),
    app: await findOwner(apps, options.app),
  }
}

const layerColors: Record<string, Color> = {
  project: 'blue',
  application: 'cyan',
  tenant: 'yellow',
  tenant2application: 'magenta',
}

async function showEffectiveSettings(
  context: Context,
  _args: string[],
  options: LayerOptions,
): Promise<void> {
  const { terminal, format, signal } = context
  if (options.tenant === undefined || options.app === undefined)
    throw new Failure('usage', 'The tenant or the app is missing. Pass --tenant <slug> and --app <slug>.')
  const connection = await context.connect()
  const { tenant, app } = await getOwners(context, connection, options)
  const variables = { applicationId: app?.id ?? '', tenantId: tenant?.id ?? '' }
  const result = await graphql(connection, getEffectiveSettingsDocument, variables, { signal })
  printEffectiveSettings(terminal, format, result.effectiveSettings)
}

type EffectiveSettings = GetEffectiveSettingsResult['effectiveSettings']

function printEffectiveSettings(terminal: Terminal, format: Format, settings: EffectiveSettings): void {
  if (format !== 'table') return void terminal.stdout.write(serialize(settings, format))
  const rows = (['backend', 'frontend'] as const).flatMap((side) => {
    const { KeyValuePairs, ...fields } = settings[side]
    return [
      ...Object.entries(fields as Record<string, { value: unknown; layer: string | null }>).map(
        ([name, { value, layer }]) => [
          `${side} ${formatCell(name)}`,
          formatCell(value),
          formatCell(layer ?? 'none'),
        ],
      ),
      ...KeyValuePairs.map(({ Key, Value, layer }) => [
        `${side} ${formatCell(Key)}`,
        formatCell(Value),
        formatCell(layer),
      ]),
    ]
  })
  const paint = createPaint(terminal, terminal.stdout)
  const lines = formatTable(['SETTING', 'VALUE', 'LAYER'], rows, (text, _row, column) =>
    column === 2 ? paint(layerColors[text] ?? 'dim', text) : text,
  )
  terminal.stdout.write(`${lines.join('\n')}\n`)
}

function addPair(text: string, previous: Pair[] = []): Pair[] {
  const separator = text.indexOf('=')
  if (separator < 1) throw new InvalidArgumentError('Use key=value.')
  return [...previous, { Key: text.slice(0, separator), Value: text.slice(separator + 1) }]
}
