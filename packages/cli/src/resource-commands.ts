// Generates list, get, create, update and delete for a resource, as far as the API supports them.
import { type Command, InvalidArgumentError } from 'commander'
import { confirm } from './confirm.ts'
import { type Context, addCommand, setAction } from './context.ts'
import { Failure } from './failures.ts'
import { addFieldOptions, optionName, valuesOf } from './field-options.ts'
import { type Format, type Row, printDone, printRow, printRows, remark } from './output.ts'
import { type ParentOptions, addParentOptions, getParent, parentExample } from './parents.ts'
import type { Resource } from './resource.ts'
import { type Filter, type Order, createRow, deleteRow, getRow, listRows, updateRow } from './rows.ts'
import { writeSecretFile } from './secret-files.ts'
import { withArticle } from './words.ts'
import type { Terminal } from './terminal.ts'

type ListOptions = ParentOptions & { filter?: Filter[]; sort?: Order[]; limit: number }
type ChangeOptions = ParentOptions & Row & { tokenFile?: string; yes?: boolean }
const defaultLimit = 1_000

/** Adds the commands of a resource. */
export function addResourceCommands(program: Command, terminal: Terminal, resource: Resource): Command {
  const { name, singular, aliases = [] } = resource
  const group = addCommand(program, {
    name,
    description: resource.description,
    examples: [`${name} list${parentExample(resource.parent)}`],
  })
  for (const alias of new Set([singular, ...aliases])) if (!alias.includes(' ')) group.alias(alias)
  addListCommand(group, terminal, resource)
  if (!resource.keys.includes('reference')) addGetCommand(group, terminal, resource)
  if (resource.create !== undefined) addCreateCommand(group, terminal, resource)
  if (resource.update !== undefined) addUpdateCommand(group, terminal, resource)
  if (resource.delete !== undefined) addDeleteCommand(group, terminal, resource)
  return group
}

export type ListPresentation = {
  description?: string
  /** The default of --limit. */
  limit?: number
  /** Converts a row for printing. */
  present?: (row: Row, format: Format) => Row
}

/** Adds `list`. */
export function addListCommand(
  group: Command,
  terminal: Terminal,
  resource: Resource,
  presentation: ListPresentation = {},
): void {
  const { name, parent, list, columns } = resource
  const { description = `Lists ${name.replace('-', ' ')}.`, present = (row) => row } = presentation
  const example = `${name} list${parentExample(parent)}`
  const command = addCommand(group, {
    name: 'list',
    description,
    examples: [example, `${example} --output json`],
  })
  addParentOptions(command, parent)
  if (list.hasFilters !== false)
    command
      .option('--filter <field=value>', 'list only rows that match; may be repeated', addFilter)
      .option('--sort <field[:desc]>', 'sort by a field; may be repeated', addOrder)
  command.option(
    '--limit <number>',
    'the maximum number of rows',
    asCount,
    presentation.limit ?? defaultLimit,
  )
  setAction<ListOptions>(command, terminal, async (context, _args, { filter, sort, limit, ...options }) => {
    const connection = await context.connect()
    const parentRow = await getParent(context, connection, parent, options)
    const listing = { filters: filter, order: sort, limit, signal: context.signal }
    const { rows, hasMore } = await listRows(connection, resource, parentRow, listing)
    printRows(
      terminal,
      context.format,
      columns,
      rows.map((row) => present(row, context.format)),
    )
    if (hasMore) remark(terminal, `Showing the first ${limit} rows. Use --filter or --limit to see others.`)
  })
}

function addGetCommand(group: Command, terminal: Terminal, resource: Resource): void {
  const { name, singular, parent } = resource
  const command = addCommand(group, {
    name: 'get',
    description: `Shows one ${singular}.`,
    examples: [`${name} get ${sample(resource)}${parentExample(parent)}`],
  }).argument(`<${singular.replace(' ', '-')}>`, keysText(resource))
  addParentOptions(command, parent)
  setAction<ParentOptions>(command, terminal, async (context, [named = ''], options) => {
    const { row } = await findNamed(context, resource, named, options)
    printRow(terminal, context.format, row)
  })
}

function addCreateCommand(group: Command, terminal: Terminal, resource: Resource): void {
  const { name, singular, parent, keys, create } = resource
  const command = addCommand(group, {
    name: 'create',
    description: `Creates ${withArticle(singular)}.`,
    examples: [`${name} create ${resource.example ?? ''}${parentExample(parent)}`],
  }).argument(`<${keys[0]}>`, `the ${keys[0]} of the new ${singular}`)
  addParentOptions(command, parent)
  addFieldOptions(command, resource, 'create')
  if (create?.secret !== undefined)
    command.option('--token-file <file>', 'the file for the token, readable only by you')
  setAction<ChangeOptions>(command, terminal, async (context, [key = ''], options) => {
    rejectManagerUrl(resource, context)
    const values = { [keys[0]]: key, ...(await valuesOf(resource, 'create', options)) }
    const isFileNeeded =
      create?.secret !== undefined && !Object.keys(create.fixed ?? {}).some((field) => field in values)
    if (isFileNeeded && options.tokenFile === undefined)
      throw new Failure('usage', 'The token is not printed. Pass --token-file <file>.')
    const connection = await context.connect()
    const parentRow = await getParent(context, connection, parent, options)
    // A request that creates a secret is not aborted: the Manager could create a secret that is never stored.
    const sendCreate = () =>
      createRow(connection, resource, parentRow, {
        values,
        signal: isFileNeeded ? undefined : context.signal,
      })
    const { row } = isFileNeeded
      ? await writeSecretFile(options.tokenFile ?? '', sendCreate)
      : await sendCreate()
    const where = isFileNeeded ? ` Its token is in ${options.tokenFile}.` : ''
    printDone(terminal, context.format, `Created ${singular} ${key} (${String(row['id'])}).${where}`, row)
  })
}

function addUpdateCommand(group: Command, terminal: Terminal, resource: Resource): void {
  const { name, singular, parent, fields } = resource
  const first = fields.find(({ only, kind }) => only !== 'create' && (kind === undefined || kind === 'pairs'))
  const example = first?.kind === 'pairs' ? `--${first.name} ${first.name}.yaml` : '--name "New name"'
  const command = addCommand(group, {
    name: 'update',
    description: `Changes ${withArticle(singular)}. Other fields are kept.`,
    examples: [`${name} update ${sample(resource)} ${example}${parentExample(parent)}`],
  }).argument(`<${singular.replace(' ', '-')}>`, keysText(resource))
  addParentOptions(command, parent)
  addFieldOptions(command, resource, 'update')
  setAction<ChangeOptions>(command, terminal, async (context, [named = ''], options) => {
    rejectManagerUrl(resource, context)
    const values = await valuesOf(resource, 'update', options)
    if (Object.keys(values).length === 0)
      throw new Failure(
        'usage',
        `Nothing to change. Pass at least one option; see svc ${name} update --help.`,
      )
    const { connection, row } = await findNamed(context, resource, named, options)
    const changed = await updateRow(connection, resource, String(row['id']), {
      values,
      signal: context.signal,
    })
    printDone(terminal, context.format, `Updated ${singular} ${named}.`, changed)
  })
}

function addDeleteCommand(group: Command, terminal: Terminal, resource: Resource): void {
  const { name, singular, parent, isContainer = false } = resource
  const command = addCommand(group, {
    name: 'delete',
    description: `Deletes ${withArticle(singular)}${isContainer ? ', with everything in it' : ''}.`,
    examples: [`${name} delete ${sample(resource)}${parentExample(parent)}`],
  })
    .argument(`<${singular.replace(' ', '-')}>`, keysText(resource))
    .option('-y, --yes', 'do not ask for confirmation')
  addParentOptions(command, parent)
  setAction<ChangeOptions>(command, terminal, async (context, [named = ''], options) => {
    const { connection, row } = await findNamed(context, resource, named, options)
    await confirm(terminal, `Delete ${singular} ${named} (${String(row['id'])})?`, options.yes === true)
    await deleteRow(connection, resource, String(row['id']), { signal: context.signal })
    printDone(terminal, context.format, `Deleted ${singular} ${named}.`, row)
  })
}

/** `--url` is the address of the Manager. A user who means the field would send the token to another host. */
function rejectManagerUrl({ fields, singular }: Resource, { target }: Context): void {
  const field = fields.find(({ name }) => name === 'url')
  if (target.url !== undefined && field !== undefined)
    throw new Failure(
      'usage',
      `--url is the address of the Manager, not of the ${singular}. Use --${optionName(field)} for the ${singular}, and SVC_URL or --profile for the Manager.`,
    )
}

/** The row that an argument names, and the connection it was found with. */
export async function findNamed(context: Context, resource: Resource, named: string, options: ParentOptions) {
  const connection = await context.connect()
  // The list query needs the parent, even if `named` is an id.
  const parentRow = await getParent(context, connection, resource.parent, options)
  const row = await getRow(connection, resource, parentRow, { named, signal: context.signal })
  return { connection, row }
}

const keysText = ({ keys }: Resource): string =>
  `its ${[...keys, 'id'].join(', ').replace(/, (?=[^,]*$)/, ' or ')}`
const sample = ({ example = '' }: Resource): string => /^\S+/.exec(example)?.[0] ?? 'dev'

function addFilter(text: string, previous: Filter[] = []): Filter[] {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('Write it as field=value.')
  return [...previous, { field: text.slice(0, at), value: text.slice(at + 1) }]
}

function addOrder(text: string, previous: Order[] = []): Order[] {
  const [field = '', direction = 'asc', ...more] = text.split(':')
  if (field === '' || !/^(asc|desc)$/.test(direction) || more.length > 0)
    throw new InvalidArgumentError('Write it as field or field:desc.')
  return [...previous, { field, direction: direction === 'desc' ? 'DESC' : 'ASC' }]
}

/** Accepts whole numbers from 1 to 9,999,999. */
function asCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('Use a whole number, 1 or greater.')
  return Number(text)
}
