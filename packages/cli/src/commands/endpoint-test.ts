// The command `endpoints test`, which calls an endpoint through the gateway.
import { graphql } from '@manager/client'
import { testEndpointDocument } from '@manager/client/documents'
import { type Command, InvalidArgumentError } from 'commander'
import { confirm } from '../confirm.ts'
import { addCommand, setAction } from '../context.ts'
import { printRow } from '../output.ts'
import { type ParentOptions, addParentOptions, getParent } from '../parents.ts'
import { readNamedFile } from '../private-files.ts'
import { findNamedRow } from '../resource-commands.ts'
import { endpoints } from '../resources/endpoints.ts'
import { machineUsers } from '../resources/machine-users.ts'
import { getRow } from '../rows.ts'
import type { Terminal } from '../terminal.ts'

type Header = { name: string; value: string }
type Options = ParentOptions & {
  machineUser: string
  method: string
  query?: string
  header?: Header[]
  body?: string
  yes?: boolean
}

export function addEndpointTestCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'test',
    description:
      'Call an endpoint through the gateway, as a machine user would. The partner receives the call with the stored credentials.',
    examples: [
      'endpoints test orders --machine-user billing -p shop -a web -e dev',
      'endpoints test orders --machine-user billing --query "page=2"',
    ],
  })
    .argument('<endpoint>', 'the endpoint, by name, path or id')
    .requiredOption('--machine-user <machine-user>', 'the machine user, by name, username or id')
    .option('-e, --environment <name>', 'the environment of the machine user: dev, qas or run')
    .option('--method <method>', 'the HTTP method', 'GET')
    .option('--query <text>', 'the query string, such as "page=2"')
    .option('--header <name:value>', 'a header; may be repeated', addHeader)
    .option('--body <file>', 'a file with the body')
    .option('-y, --yes', 'do not ask for confirmation')
  addParentOptions(command, 'app')
  setAction<Options>(command, terminal, async (context, [named = ''], options) => {
    const { machineUser, method, query, header, body } = options
    const text = body === undefined ? undefined : await readNamedFile(body)
    const { connection, row } = await findNamedRow(context, endpoints, named, options)
    const environment = await getParent(context, connection, 'environment', options)
    const { signal } = context
    const user = await getRow(connection, machineUsers, environment, { named: machineUser, signal })
    await confirm(terminal, `Send ${method} to ${String(row['url'])}?`, options.yes === true)
    const input = {
      machineUserId: String(user['id']),
      method,
      ...(query === undefined ? {} : { query }),
      ...(header === undefined ? {} : { headers: header }),
      ...(text === undefined ? {} : { body: text }),
    }
    const variables = { endpointId: String(row['id']), input }
    const { testEndpoint } = await graphql(connection, testEndpointDocument, variables, { signal })
    const { responseHeaders, ...rest } = testEndpoint
    const headers = responseHeaders?.map(({ name, value }) => `${name}: ${value}`) ?? null
    printRow(terminal, context.format, context.format === 'table' ? { ...rest, headers } : testEndpoint)
  })
}

function addHeader(text: string, previous: readonly Header[] = []): Header[] {
  const separator = text.indexOf(':')
  if (separator < 1) throw new InvalidArgumentError('Use name:value.')
  return [...previous, { name: text.slice(0, separator), value: text.slice(separator + 1).trim() }]
}
