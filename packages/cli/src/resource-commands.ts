// Generates the commands list, get, create, update and delete for a resource, if the API supports them.
import type { Connection } from '@manager/client'
import type { Command } from 'commander'
import { confirm } from './confirm.ts'
import { type Context, addCommand, setAction } from './context.ts'
import { Failure } from './failures.ts'
import { addFieldOptions, getOptionName, readValues } from './field-options.ts'
import { type FollowOptions, addFollowOption } from './follow/follow-commands.ts'
import type { FollowView } from './follow/run-follow.ts'
import type { Format } from './format.ts'
import { type ListOptions, addListOptions, printListed } from './list-options.ts'
import { type Row, printResult, printRow } from './output.ts'
import { type ParentOptions, addParentOptions, getParent, getParentExample } from './parents.ts'
import type { Field, Resource } from './resource.ts'
import { type Filter, createRow, deleteRow, getRow, listRows, updateRow } from './rows.ts'
import { writeSecretFile } from './secret-files.ts'
import { addArticle } from './words.ts'
import type { Terminal } from './terminal.ts'

type ChangeOptions = ParentOptions & Row & { tokenFile?: string; yes?: boolean }

export function addResourceCommands(program: Command, terminal: Terminal, resource: Resource): Command {
  const { name, singular, aliases = [] } = resource
  const group = addCommand(program, {
    name,
    description: resource.description,
    examples: [`${name} list${getParentExample(resource.parent)}`],
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
  /** Converts a row before it is printed. */
  formatRow?: (row: Row, format: Format) => Row
  /** Prints new rows of the parent for --follow. */
  follow?: (
    context: Context,
    connection: Connection,
    variables: { parentId: string; filters?: readonly Filter[] | undefined },
    view: FollowView,
  ) => Promise<never>
}

export function addListCommand(
  group: Command,
  terminal: Terminal,
  resource: Resource,
  presentation: ListPresentation = {},
): void {
  const { name, parent, list, columns } = resource
  const { description = `List ${name.replace('-', ' ')}.`, limit: defaultLimit } = presentation
  const { formatRow = (row, format) => formatResourceRow(resource, row, format) } = presentation
  const example = `${name} list${getParentExample(parent)}`
  const command = addCommand(group, {
    name: 'list',
    description,
    examples: [example, `${example} --output json`],
  })
  addParentOptions(command, parent)
  addListOptions(command, {
    hasFilters: list.hasFilters !== false,
    ...(defaultLimit === undefined ? {} : { limit: defaultLimit }),
  })
  const { follow } = presentation
  if (follow !== undefined) addFollowOption(command, ['sort'])
  setAction<ParentOptions & ListOptions & FollowOptions>(
    command,
    terminal,
    async (context, _args, options) => {
      const { filter: filters, sort: order, limit, ...parentOptions } = options
      const connection = await context.connect()
      const parentRow = await getParent(context, connection, parent, parentOptions)
      if (options.follow === true && follow !== undefined)
        return follow(
          context,
          connection,
          { parentId: parentRow?.id ?? '', filters },
          { columns, limit, formatRow },
        )
      const listing = { filters, order, limit, signal: context.signal }
      const { rows, hasMore } = await listRows(connection, resource, parentRow, listing)
      printListed(context, columns, { rows: rows.map((row) => formatRow(row, context.format)), hasMore })
    },
  )
}

/** Converts a row for a table. Other formats get the complete row. */
const formatResourceRow = ({ formatRow }: Resource, row: Row, format: Format): Row =>
  format === 'table' && formatRow !== undefined ? formatRow(row) : row

function addGetCommand(group: Command, terminal: Terminal, resource: Resource): void {
  const { name, singular, parent } = resource
  const command = addCommand(group, {
    name: 'get',
    description: `Show one ${singular}.`,
    examples: [`${name} get ${getExampleKey(resource)}${getParentExample(parent)}`],
  }).argument(`<${singular.replace(' ', '-')}>`, describeKeys(resource))
  addParentOptions(command, parent)
  setAction<ParentOptions>(command, terminal, async (context, [named = ''], options) => {
    const { row } = await findNamedRow(context, resource, named, options)
    printRow(terminal, context.format, formatResourceRow(resource, row, context.format))
  })
}

function addCreateCommand(group: Command, terminal: Terminal, resource: Resource): void {
  const { name, singular, parent, keys, create } = resource
  const command = addCommand(group, {
    name: 'create',
    description: `Create ${addArticle(singular)}.`,
    examples: [`${name} create ${resource.example ?? ''}${getParentExample(parent)}`],
  }).argument(`<${keys[0]}>`, `the ${keys[0]} of the new ${singular}`)
  addParentOptions(command, parent)
  addFieldOptions(command, resource, 'create')
  if (create?.secret !== undefined)
    command.option('--token-file <file>', 'the file for the token, readable only by you')
  setAction<ChangeOptions>(command, terminal, async (context, [key = ''], options) => {
    rejectManagerUrl(resource, context)
    const values = { [keys[0]]: key, ...(await readValues(resource, 'create', options)) }
    const needsTokenFile =
      create?.secret !== undefined &&
      !Object.keys(create.defaultFields ?? {}).some((field) => field in values)
    if (needsTokenFile && options.tokenFile === undefined)
      throw new Failure('usage', 'The token is written to a file and not printed. Pass --token-file <file>.')
    const connection = await context.connect()
    const parentRow = await getParent(context, connection, parent, options)
    // Do not abort a request that creates a secret: the Manager could create a secret that is never stored.
    const sendCreate = () =>
      createRow(connection, resource, parentRow, {
        values,
        signal: needsTokenFile ? undefined : context.signal,
      })
    const { row } = needsTokenFile
      ? await writeSecretFile(options.tokenFile ?? '', sendCreate)
      : await sendCreate()
    const tokenNote = needsTokenFile ? ` The token is in ${options.tokenFile}.` : ''
    printResult(
      terminal,
      context.format,
      `Created ${singular} ${key} (${String(row['id'])}).${tokenNote}`,
      row,
    )
  })
}

function addUpdateCommand(group: Command, terminal: Terminal, resource: Resource): void {
  const { name, singular, parent, fields } = resource
  const exampleField =
    fields.find(({ name: field }) => field === 'name') ??
    fields.find(({ only, kind }) => only !== 'create' && (kind === undefined || kind === 'pairs'))
  const example = exampleField === undefined ? '' : getFieldExample(exampleField)
  const command = addCommand(group, {
    name: 'update',
    description: `Change ${addArticle(singular)}. Other fields are kept.`,
    examples: [`${name} update ${getExampleKey(resource)} ${example}${getParentExample(parent)}`],
  }).argument(`<${singular.replace(' ', '-')}>`, describeKeys(resource))
  addParentOptions(command, parent)
  addFieldOptions(command, resource, 'update')
  setAction<ChangeOptions>(command, terminal, async (context, [named = ''], options) => {
    rejectManagerUrl(resource, context)
    const values = await readValues(resource, 'update', options)
    if (Object.keys(values).length === 0)
      throw new Failure(
        'usage',
        `Nothing to change. Pass at least one option; see svc ${name} update --help.`,
      )
    const { connection, row } = await findNamedRow(context, resource, named, options)
    const updatedRow = await updateRow(connection, resource, String(row['id']), {
      values,
      revision: row['revision'],
      signal: context.signal,
    })
    printResult(terminal, context.format, `Updated ${singular} ${named}.`, updatedRow)
  })
}

function addDeleteCommand(group: Command, terminal: Terminal, resource: Resource): void {
  const { name, singular, parent, isContainer = false } = resource
  const command = addCommand(group, {
    name: 'delete',
    description: `Delete ${addArticle(singular)}${isContainer ? ' and everything in it' : ''}.`,
    examples: [`${name} delete ${getExampleKey(resource)}${getParentExample(parent)}`],
  })
    .argument(`<${singular.replace(' ', '-')}>`, describeKeys(resource))
    .option('-y, --yes', 'do not ask for confirmation')
  addParentOptions(command, parent)
  setAction<ChangeOptions>(command, terminal, async (context, [named = ''], options) => {
    const { connection, row } = await findNamedRow(context, resource, named, options)
    await confirm(terminal, `Delete ${singular} ${named} (${String(row['id'])})?`, options.yes === true)
    await deleteRow(connection, resource, row, { signal: context.signal })
    printResult(terminal, context.format, `Deleted ${singular} ${named}.`, row)
  })
}

/**
 * Rejects `--url` if the resource has a field with that name. A user who means the field would otherwise send the
 * token to a different host.
 */
function rejectManagerUrl({ fields, singular }: Resource, { target }: Context): void {
  const field = fields.find(({ name }) => name === 'url')
  if (target.url !== undefined && field !== undefined)
    throw new Failure(
      'usage',
      `--url is the address of the Manager, not of the ${singular}. Use --${getOptionName(field)} for the ${singular}, and SVC_URL or --profile for the Manager.`,
    )
}

/** Returns the row that the argument names, and the connection. */
export async function findNamedRow(
  context: Context,
  resource: Resource,
  named: string,
  options: ParentOptions,
) {
  const connection = await context.connect()
  // The list query needs the parent, even if `named` is an id.
  const parentRow = await getParent(context, connection, resource.parent, options)
  const row = await getRow(connection, resource, parentRow, { named, signal: context.signal })
  return { connection, row }
}

/** Returns an example option for a field. */
function getFieldExample(field: Field): string {
  if (field.kind === 'pairs') return `--${field.name} ${field.name}.yaml`
  return `--${getOptionName(field)} ${field.name === 'name' ? '"New name"' : 'new'}`
}

export const describeKeys = ({ keys, keyNames = keys, singular }: Resource): string =>
  `the ${singular}, by ${[...keyNames, 'id'].join(', ').replace(/, (?=[^,]*$)/, ' or ')}`
const getExampleKey = ({ example = '' }: Resource): string => /^\S+/.exec(example)?.[0] ?? 'dev'
