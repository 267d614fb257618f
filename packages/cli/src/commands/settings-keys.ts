// The commands of `settings` that change single keys of a layer, and that copy the settings of an app to a tenant.
import { graphql } from '@manager/client'
import { copyTenant2ApplicationConfigDocument, setSettingsKeysDocument } from '@manager/client/documents'
import { type Command, Option } from 'commander'
import { confirm } from '../confirm.ts'
import { addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import type { Pair } from '../field-options.ts'
import { addValue } from '../list-options.ts'
import { printResult } from '../output.ts'
import { getProject } from '../parents.ts'
import { parsePair } from '../pairs.ts'
import { apps } from '../resources/apps.ts'
import { tenants } from '../resources/tenants.ts'
import { getRow } from '../rows.ts'
import { addScopeOptions } from '../scopes.ts'
import { getTenantApp, readSettings, toPrintableSettings } from '../settings.ts'
import { type LayerOptions, getLayer } from './settings.ts'
import type { Terminal } from '../terminal.ts'

type KeyOptions = LayerOptions & { part: 'backend' | 'frontend'; remove?: string[] }
type CopyOptions = { project?: string; app: string; from: string; to: string; yes?: boolean }

export function addSettingsKeyCommands(group: Command, terminal: Terminal): void {
  addSetCommand(group, terminal)
  addCopyCommand(group, terminal)
}

function addSetCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'set',
    description: 'Set and remove single keys of a layer in one change. Other keys are kept.',
    examples: [
      'settings set mail.from=shop@example.com -p shop',
      'settings set color=red --remove logo --part frontend -p shop -t acme',
    ],
  })
    .argument('[key=value...]', 'the keys to set')
    .option('--remove <key>', 'a key to remove; may be repeated', addValue)
    .addOption(
      new Option('--part <part>', 'the part of the settings')
        .choices(['backend', 'frontend'])
        .default('backend'),
    )
  addScopeOptions(command)
  setAction<KeyOptions>(command, terminal, async (context, texts, options) => {
    const { part, remove: unset = [] } = options
    const set: Pair[] = texts.map(parsePair)
    if (set.length + unset.length === 0)
      throw new Failure('usage', 'Nothing to change. Pass <key=value> or --remove <key>.')
    const { connection, layer, name } = await getLayer(context, options, 'ensure')
    const project = await getProject(context, connection, options)
    const { id: settingsId } = await readSettings(connection, layer, context)
    const variables = { projectId: project.id, changes: [{ settingsId, part, set, unset }] }
    const { setSettingsKeys } = await graphql(connection, setSettingsKeysDocument, variables, context)
    const [settings] = setSettingsKeys
    const row = settings === undefined ? {} : toPrintableSettings(settings)
    printResult(terminal, context.format, `Updated settings of ${name}.`, row)
  })
}

function addCopyCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'copy',
    description: 'Replace the settings of an app in one tenant with its settings in another tenant.',
    examples: ['settings copy -p shop -a web --from acme --to beta'],
  })
    .option('-p, --project <project>', 'the project, by slug or id (SVC_PROJECT)')
    .requiredOption('-a, --app <app>', 'the app, by slug, name or id')
    .requiredOption('--from <tenant>', 'the tenant whose settings are read, by slug, name or id')
    .requiredOption('--to <tenant>', 'the tenant whose settings are replaced, by slug, name or id')
    .option('-y, --yes', 'do not ask for confirmation')
  setAction<CopyOptions>(command, terminal, async (context, _args, options) => {
    const { signal } = context
    const connection = await context.connect()
    const project = await getProject(context, connection, options)
    const app = await getRow(connection, apps, project, { named: options.app, signal })
    const getPair = async (named: string) => {
      const tenant = await getRow(connection, tenants, project, { named, signal })
      return getTenantApp(connection, { tenant: String(tenant['id']), app: String(app['id']) }, context)
    }
    const [source, target] = [await getPair(options.from), await getPair(options.to)]
    const question = `Replace the settings of app ${options.app} in tenant ${options.to} with those of tenant ${options.from}?`
    await confirm(terminal, question, options.yes === true)
    const input = { sourceTenant2ApplicationId: source.id, targetTenant2ApplicationId: target.id }
    const result = await graphql(connection, copyTenant2ApplicationConfigDocument, { input }, { signal })
    const sentence = `Copied the settings of app ${options.app} from tenant ${options.from} to tenant ${options.to}.`
    printResult(terminal, context.format, sentence, result.copyTenant2ApplicationConfig)
  })
}
