// calls: lists the calls that the gateway has logged, and shows one of them.
import { type Connection, graphql } from '@manager/client'
import { getESBAuditLogsDocument, pageESBAuditLogsDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { callColumns, formatCall } from '../call-rows.ts'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { type FollowOptions, addFollowOption, followCalls } from '../follow/follow-commands.ts'
import { type ListOptions, addListOptions, printListed } from '../list-options.ts'
import { type Row, printRow } from '../output.ts'
import { type PageRequest, readPages } from '../pages.ts'
import { type ParentOptions, addParentOptions, getParent } from '../parents.ts'
import { endpoints } from '../resources/endpoints.ts'
import { machineUsers } from '../resources/machine-users.ts'
import { getRow } from '../rows.ts'
import { parseTime } from '../times.ts'
import type { Terminal } from '../terminal.ts'

export type CallFilterOptions = ParentOptions & {
  endpoint?: string
  machineUser?: string
  status?: string
  text?: string
  from?: string
  to?: string
}

export function addCallCommands(program: Command, terminal: Terminal): void {
  const group = addCommand(program, {
    name: 'calls',
    description: 'Calls: the calls that the gateway forwarded or rejected',
    examples: ['calls list -p shop -a web --status failed'],
  }).alias('call')
  addListCommand(group, terminal)
  addGetCommand(group, terminal)
}

/** Adds the options that select calls. */
function addCallFilters(command: Command): Command {
  return addParentOptions(command, 'app')
    .option('--endpoint <endpoint>', 'only calls to this endpoint, by name, path or id')
    .option('--machine-user <machine-user>', 'only calls of this machine user, by name or id')
    .option('-e, --environment <name>', 'the environment of the machine user: dev, qas or run')
    .option('--status <status>', 'only calls with this status: 404, 5xx or failed')
    .option('--text <text>', 'only calls whose path, target or failure contains this text; needs --from')
    .option('--from <time>', 'only calls from this time (RFC 3339) or day (UTC)', parseTime)
    .option('--to <time>', 'only calls before this time or day', parseTime)
}

function addListCommand(group: Command, terminal: Terminal): void {
  const list = addCommand(group, {
    name: 'list',
    description: 'List the logged calls of an app, newest first.',
    examples: [
      'calls list -p shop -a web --endpoint orders',
      'calls list -p shop -a web --status 5xx --from 2026-11-01',
      'calls list -p shop -a web --follow',
    ],
  })
  addListOptions(addCallFilters(list), { limit: 50 })
  addFollowOption(list, ['text', 'from', 'to', 'sort'])
  setAction<CallFilterOptions & ListOptions & FollowOptions>(
    list,
    terminal,
    async (context, _args, options) => {
      const { filter: filters, sort: order, limit } = options
      const connection = await context.connect()
      const variables = await getCallVariables(context, connection, options)
      if (options.follow === true) {
        const view = { columns: callColumns, limit, formatRow: formatCall }
        return followCalls(context, connection, { ...variables, filters }, view)
      }
      const all = { ...variables, ...(filters && { filters }), ...(order && { order }) }
      const listed = await readPages(limit, (request) => readCalls(context, connection, all, request))
      const rows = context.format === 'table' ? listed.rows.map(formatCall) : listed.rows
      printListed(context, callColumns, { ...listed, rows })
    },
  )
}

type CallVariables = Awaited<ReturnType<typeof getCallVariables>>

async function readCalls(
  { signal }: Context,
  connection: Connection,
  variables: CallVariables,
  request: PageRequest,
) {
  const all = { ...variables, ...request }
  const result = await graphql(connection, pageESBAuditLogsDocument, all, { signal })
  return result.esbAuditLogsConnection
}

const findId = async (named: string | undefined, find: (text: string) => Promise<Row>) =>
  named === undefined ? undefined : String((await find(named))['id'])

/** Returns the variables of the query, with the ids of the objects that the options name. */
export async function getCallVariables(context: Context, connection: Connection, options: CallFilterOptions) {
  const { signal } = context
  const { endpoint, machineUser, status, text, from, to } = options
  const app = await getParent(context, connection, 'app', options)
  const endpointId = await findId(endpoint, (named) => getRow(connection, endpoints, app, { named, signal }))
  const machineUserId = await findId(machineUser, async (named) =>
    getRow(connection, machineUsers, await getParent(context, connection, 'environment', options), {
      named,
      signal,
    }),
  )
  return { applicationId: app?.id ?? '', endpointId, machineUserId, status, text, from, to }
}

function addGetCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'get',
    description:
      'Show one call with its headers and bodies: the call with a request id, or the newest call that matches the options.',
    examples: [
      'calls get -p shop -a web --endpoint orders --status failed',
      'calls get 5b0a3c1e-7d52-4f3a-9c55-0e4a8f1b2c3d -p shop -a web',
    ],
  }).argument('[request-id]', 'the request id, which the caller receives in X-Request-Id')
  addCallFilters(command)
  setAction<CallFilterOptions>(command, terminal, async (context, [requestId], options) => {
    const { signal } = context
    const connection = await context.connect()
    const variables = await getCallVariables(context, connection, options)
    const id = requestId ?? (await findNewestRequestId(context, connection, variables))
    const key = { applicationId: variables.applicationId, requestId: id }
    const { esbAuditLogs } = await graphql(connection, getESBAuditLogsDocument, key, { signal })
    const [call] = esbAuditLogs
    if (call === undefined)
      throw new Failure('notFound', `No call has the request id ${id}. See: svc calls list`)
    printRow(terminal, context.format, context.format === 'table' ? formatCall(call) : call)
  })
}

async function findNewestRequestId(
  context: Context,
  connection: Connection,
  variables: CallVariables,
): Promise<string> {
  const { rows } = await readPages(1, (request) => readCalls(context, connection, variables, request))
  const requestId = rows[0]?.['requestId']
  if (typeof requestId === 'string') return requestId
  throw new Failure('notFound', 'No call matches the options. See: svc calls list')
}
