// list, get, create, update and delete of a resource, as far as the API has them.
import { type Command, InvalidArgumentError } from 'commander'
import { confirm } from './confirm.ts'
import { type Context, addCommand, does } from './context.ts'
import { Failure } from './failures.ts'
import { addFieldOptions, optionName, valuesOf } from './field-options.ts'
import { type Format, type Row, printDone, printRow, printRows, remark } from './output.ts'
import { type ParentOptions, addParentOptions, getParent, parentExample } from './parents.ts'
import type { Resource } from './resource.ts'
import { type Filter, type Order, createRow, deleteRow, getRow, listRows, updateRow } from './rows.ts'
import { intoSecretFile } from './secret-files.ts'
import { withArticle } from './words.ts'
import type { World } from './world.ts'

type ListOptions = ParentOptions & { filter?: Filter[]; sort?: Order[]; limit: number }
type ChangeOptions = ParentOptions & Row & { tokenFile?: string; yes?: boolean }
const defaultLimit = 1_000

/** Adds the commands of a resource. */
export function addResourceCommands(program: Command, world: World, resource: Resource): Command {
  const { name, one, aliases = [] } = resource
  const group = addCommand(program, {
    name,
    description: resource.description,
    examples: [`${name} list${parentExample(resource.parent)}`],
  })
  for (const alias of new Set([one, ...aliases])) if (!alias.includes(' ')) group.alias(alias)
  addListCommand(group, world, resource)
  if (!resource.keys.includes('reference')) addGetCommand(group, world, resource)
  if (resource.create !== undefined) addCreateCommand(group, world, resource)
  if (resource.update !== undefined) addUpdateCommand(group, world, resource)
  if (resource.delete !== undefined) addDeleteCommand(group, world, resource)
  return group
}

export type ListLook = {
  description?: string
  /** How many rows are shown unless more are asked for. */
  limit?: number
  /** A row as it is printed. */
  present?: (row: Row, format: Format) => Row
}

/** Adds `list`. */
export function addListCommand(group: Command, world: World, resource: Resource, look: ListLook = {}): void {
  const { name, parent, list, columns } = resource
  const { description = `Lists ${name.replace('-', ' ')}.`, present = (row) => row } = look
  const example = `${name} list${parentExample(parent)}`
  const command = addCommand(group, {
    name: 'list',
    description,
    examples: [example, `${example} --output json`],
  })
  addParentOptions(command, parent)
  if (list.hasFilters !== false)
    command
      .option('--filter <field=value>', 'keep rows that match; may be repeated', addFilter)
      .option('--sort <field[:desc]>', 'sort by a field; may be repeated', addOrder)
  command.option('--limit <number>', 'at most so many rows', asCount, look.limit ?? defaultLimit)
  does<ListOptions>(command, world, async (context, _args, { filter, sort, limit, ...options }) => {
    const connection = await context.connect()
    const parentRow = await getParent(context, connection, parent, options)
    const listing = { filters: filter, order: sort, limit, signal: context.signal }
    const { rows, hasMore } = await listRows(connection, resource, parentRow, listing)
    printRows(
      world,
      context.format,
      columns,
      rows.map((row) => present(row, context.format)),
    )
    if (hasMore) remark(world, `These are the first ${limit}; there are more. Use --filter or --limit.`)
  })
}

function addGetCommand(group: Command, world: World, resource: Resource): void {
  const { name, one, parent } = resource
  const command = addCommand(group, {
    name: 'get',
    description: `Shows one ${one}.`,
    examples: [`${name} get ${sample(resource)}${parentExample(parent)}`],
  }).argument(`<${one.replace(' ', '-')}>`, keysText(resource))
  addParentOptions(command, parent)
  does<ParentOptions>(command, world, async (context, [named = ''], options) => {
    const { row } = await findNamed(context, resource, named, options)
    printRow(world, context.format, row)
  })
}

function addCreateCommand(group: Command, world: World, resource: Resource): void {
  const { name, one, parent, keys, create } = resource
  const command = addCommand(group, {
    name: 'create',
    description: `Creates ${withArticle(one)}.`,
    examples: [`${name} create ${resource.example ?? ''}${parentExample(parent)}`],
  }).argument(`<${keys[0]}>`, `the ${keys[0]} of the new ${one}`)
  addParentOptions(command, parent)
  addFieldOptions(command, resource, 'create')
  if (create?.secret !== undefined)
    command.option('--token-file <file>', 'where the token is written, readable by you alone')
  does<ChangeOptions>(command, world, async (context, [key = ''], options) => {
    refuseManagerUrl(resource, context)
    const values = { [keys[0]]: key, ...(await valuesOf(resource, 'create', options)) }
    const isFileNeeded =
      create?.secret !== undefined && !Object.keys(create.fixed ?? {}).some((field) => field in values)
    if (isFileNeeded && options.tokenFile === undefined)
      throw new Failure('usage', 'The token is shown to nobody. Say where to write it: --token-file <file>')
    const connection = await context.connect()
    const parentRow = await getParent(context, connection, parent, options)
    // What makes a secret is not cut short: nobody would have it.
    const make = () =>
      createRow(connection, resource, parentRow, {
        values,
        signal: isFileNeeded ? undefined : context.signal,
      })
    const { row } = isFileNeeded ? await intoSecretFile(options.tokenFile ?? '', make) : await make()
    const where = isFileNeeded ? ` Its token is in ${options.tokenFile}.` : ''
    printDone(world, context.format, `Created ${one} ${key} (${String(row['id'])}).${where}`, row)
  })
}

function addUpdateCommand(group: Command, world: World, resource: Resource): void {
  const { name, one, parent, fields } = resource
  const first = fields.find(({ only, kind }) => only !== 'create' && (kind === undefined || kind === 'pairs'))
  const example = first?.kind === 'pairs' ? `--${first.name} ${first.name}.yaml` : '--name "New name"'
  const command = addCommand(group, {
    name: 'update',
    description: `Changes ${withArticle(one)}; what is not named stays.`,
    examples: [`${name} update ${sample(resource)} ${example}${parentExample(parent)}`],
  }).argument(`<${one.replace(' ', '-')}>`, keysText(resource))
  addParentOptions(command, parent)
  addFieldOptions(command, resource, 'update')
  does<ChangeOptions>(command, world, async (context, [named = ''], options) => {
    refuseManagerUrl(resource, context)
    const values = await valuesOf(resource, 'update', options)
    if (Object.keys(values).length === 0)
      throw new Failure('usage', `What shall change? See: svc ${name} update --help`)
    const { connection, row } = await findNamed(context, resource, named, options)
    const changed = await updateRow(connection, resource, String(row['id']), {
      values,
      signal: context.signal,
    })
    printDone(world, context.format, `Updated ${one} ${named}.`, changed)
  })
}

function addDeleteCommand(group: Command, world: World, resource: Resource): void {
  const { name, one, parent, isContainer = false } = resource
  const command = addCommand(group, {
    name: 'delete',
    description: `Deletes ${withArticle(one)}${isContainer ? ', with everything in it' : ''}.`,
    examples: [`${name} delete ${sample(resource)}${parentExample(parent)}`],
  })
    .argument(`<${one.replace(' ', '-')}>`, keysText(resource))
    .option('-y, --yes', 'do not ask')
  addParentOptions(command, parent)
  does<ChangeOptions>(command, world, async (context, [named = ''], options) => {
    const { connection, row } = await findNamed(context, resource, named, options)
    await confirm(world, `Delete ${one} ${named} (${String(row['id'])})?`, options.yes === true)
    await deleteRow(connection, resource, String(row['id']), { signal: context.signal })
    printDone(world, context.format, `Deleted ${one} ${named}.`, row)
  })
}

/** `--url` is the address of the Manager. Mistaken for a field of that name, it would send the token to another host. */
function refuseManagerUrl({ fields, one }: Resource, { place }: Context): void {
  const field = fields.find(({ name }) => name === 'url')
  if (place.url !== undefined && field !== undefined)
    throw new Failure(
      'usage',
      `--url is the address of the Manager, not the url of the ${one}: that is --${optionName(field)}. Name the Manager by SVC_URL or --profile here.`,
    )
}

/** The row that an argument names, and the connection it was found with. */
export async function findNamed(context: Context, resource: Resource, named: string, options: ParentOptions) {
  const connection = await context.connect()
  // Where an id is enough to find a row, lists still ask for its parent.
  const parentRow = await getParent(context, connection, resource.parent, options)
  const row = await getRow(connection, resource, parentRow, { named, signal: context.signal })
  return { connection, row }
}

const keysText = ({ keys }: Resource): string =>
  `its ${[...keys, 'id'].join(', ').replace(/, (?=[^,]*$)/, ' or ')}`
const sample = ({ example = '' }: Resource): string => /^\S+/.exec(example)?.[0] ?? 'dev'

function addFilter(text: string, former: Filter[] = []): Filter[] {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('Write it as field=value.')
  return [...former, { field: text.slice(0, at), value: text.slice(at + 1) }]
}

function addOrder(text: string, former: Order[] = []): Order[] {
  const [field = '', direction = 'asc', ...more] = text.split(':')
  if (field === '' || !/^(asc|desc)$/.test(direction) || more.length > 0)
    throw new InvalidArgumentError('Write it as field or field:desc.')
  return [...former, { field, direction: direction === 'desc' ? 'DESC' : 'ASC' }]
}

/** A whole number from 1. */
function asCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1.')
  return Number(text)
}
