// The commands of `endpoints` that control which machine users may call an endpoint.
import { type Connection, graphql } from '@manager/client'
import {
  createMachineUser2EndpointDocument,
  deleteMachineUser2EndpointDocument,
  listMachineUser2EndpointsDocument,
  updateMachineUser2EndpointDocument,
} from '@manager/client/documents'
import type { Command } from 'commander'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { addListOptions, printListed } from '../list-options.ts'
import { type Row, printResult } from '../output.ts'
import { type ParentOptions, addParentOptions, getParent } from '../parents.ts'
import { findNamedRow } from '../resource-commands.ts'
import type { Resource } from '../resource.ts'
import { endpoints } from '../resources/endpoints.ts'
import { machineUsers } from '../resources/machine-users.ts'
import { deleteRow, getRow, listRows, updateRow } from '../rows.ts'
import type { Terminal } from '../terminal.ts'

type Options = ParentOptions & { machineUser: string }
const endpointArgument = ['<endpoint>', 'the endpoint, by name, path or id'] as const

const callers: Resource = {
  name: 'callers',
  singular: 'caller',
  description: 'Machine users that may call an endpoint',
  parent: null,
  keys: ['id'],
  columns: ['machineUser', 'enabled', 'updatedAt'],
  fields: [],
  list: { document: listMachineUser2EndpointsDocument, parent: 'endpoint' },
  update: { document: updateMachineUser2EndpointDocument },
  delete: { document: deleteMachineUser2EndpointDocument },
}

export function addEndpointCallerCommands(group: Command, terminal: Terminal): void {
  const list = addCommand(group, {
    name: 'callers',
    description: 'List the machine users that may call an endpoint.',
    examples: ['endpoints callers orders -p shop -a web'],
  }).argument(...endpointArgument)
  addListOptions(addParentOptions(list, 'app'), { hasFilters: false })
  setAction<ParentOptions & { limit: number }>(
    list,
    terminal,
    async (context, [named = ''], { limit, ...options }) => {
      const { connection, row } = await findNamedRow(context, endpoints, named, options)
      const parent = { id: String(row['id']) }
      const { rows, hasMore } = await listRows(connection, callers, parent, { limit, signal: context.signal })
      const shownRows = context.format === 'table' ? rows.map(formatCaller) : rows
      printListed(context, callers.columns, { rows: shownRows, hasMore })
    },
  )
  addAccessCommand(group, terminal, 'allow', 'Allow a machine user to call an endpoint.')
  addAccessCommand(
    group,
    terminal,
    'block',
    'Block the calls of a machine user to an endpoint until you allow them again.',
  )
  addAccessCommand(group, terminal, 'disallow', 'Remove the access of a machine user to an endpoint.')
}

const getMachineUser = (row: Row): Row => (row['machineUser'] ?? {}) as Row
const formatCaller = (row: Row): Row => ({ ...row, machineUser: getMachineUser(row)['name'] })

function addAccessCommand(
  group: Command,
  terminal: Terminal,
  name: 'allow' | 'block' | 'disallow',
  description: string,
): void {
  const command = addCommand(group, {
    name,
    description,
    examples: [`endpoints ${name} orders --machine-user billing -p shop -a web -e dev`],
  })
    .argument(...endpointArgument)
    .requiredOption('--machine-user <machine-user>', 'the machine user, by name, username or id')
    .option('-e, --environment <name>', 'the environment of the machine user: dev, qas or run')
  addParentOptions(command, 'app')
  setAction<Options>(command, terminal, async (context, [named = ''], options) => {
    const { connection, endpoint, machineUser } = await findPair(context, named, options)
    const row = await findCaller(context, connection, String(endpoint['id']), machineUser)
    const change = { allow: allowCaller, block: blockCaller, disallow: removeCaller }[name]
    const variables = { machineUserID: String(machineUser['id']), endpointID: String(endpoint['id']) }
    const changedRow = await change(context, connection, row, variables)
    const verb = { allow: 'Allowed', block: 'Blocked', disallow: 'Removed' }[name]
    const sentence = `${verb} calls of machine user ${options.machineUser} to endpoint ${named}.`
    printResult(terminal, context.format, sentence, changedRow)
  })
}

async function findPair(context: Context, named: string, options: Options) {
  const { connection, row: endpoint } = await findNamedRow(context, endpoints, named, options)
  const environment = await getParent(context, connection, 'environment', options)
  const key = { named: options.machineUser, signal: context.signal }
  const machineUser = await getRow(connection, machineUsers, environment, key)
  return { connection, endpoint, machineUser }
}

async function findCaller(
  { signal }: Context,
  connection: Connection,
  endpointId: string,
  machineUser: Row,
): Promise<Row | null> {
  const { rows } = await listRows(connection, callers, { id: endpointId }, { signal })
  return rows.find((row) => getMachineUser(row)['id'] === machineUser['id']) ?? null
}

type Pair = { machineUserID: string; endpointID: string }
type Change = (context: Context, connection: Connection, row: Row | null, pair: Pair) => Promise<Row>

const allowCaller: Change = async ({ signal }, connection, row, input) => {
  if (row === null) {
    const result = await graphql(connection, createMachineUser2EndpointDocument, { input }, { signal })
    return result.createMachineUser2Endpoint
  }
  return setCallerEnabled(connection, row, true, signal)
}

const blockCaller: Change = async ({ signal }, connection, row) =>
  setCallerEnabled(connection, getExisting(row), false, signal)

const removeCaller: Change = async ({ signal }, connection, row) => {
  const existingRow = getExisting(row)
  await deleteRow(connection, callers, existingRow, { signal })
  return existingRow
}

function getExisting(row: Row | null): Row {
  if (row !== null) return row
  throw new Failure(
    'notFound',
    'The machine user has no access to the endpoint. See: svc endpoints callers <endpoint>',
  )
}

const setCallerEnabled = async (
  connection: Connection,
  row: Row,
  enabled: boolean,
  signal: AbortSignal,
): Promise<Row> =>
  row['enabled'] === enabled
    ? row
    : updateRow(connection, callers, String(row['id']), {
        values: { enabled },
        revision: row['revision'],
        signal,
      })
