// backends: lists the backends that are registered for an app.
import { graphql } from '@manager/client'
import { pageBackendsDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { addCommand, setAction } from '../context.ts'
import { type ListOptions, addListOptions, printListed } from '../list-options.ts'
import type { Row } from '../output.ts'
import { readPages } from '../pages.ts'
import { type ParentOptions, addParentOptions, getParent } from '../parents.ts'
import type { Terminal } from '../terminal.ts'

const columns = ['environment', 'callbackOrigin', 'version', 'machineUser', 'isLive', 'lastHeartbeat']

export function addBackendCommands(program: Command, terminal: Terminal): void {
  const group = addCommand(program, {
    name: 'backends',
    description: 'Backends: the processes that are registered for an app',
    examples: ['backends list -p shop -a web'],
  }).alias('backend')
  const list = addCommand(group, {
    name: 'list',
    description: 'List the registered backends of an app, and whether they are live.',
    examples: ['backends list -p shop -a web', 'backends list -p shop -a web -e run'],
  }).option('-e, --environment <name>', 'only backends in this environment: dev, qas or run')
  addListOptions(addParentOptions(list, 'app'))
  setAction<ParentOptions & ListOptions>(list, terminal, async (context, _args, options) => {
    const { filter: filters, sort: order, limit, ...parentOptions } = options
    const connection = await context.connect()
    const app = await getParent(context, connection, 'app', parentOptions)
    const environment =
      options.environment === undefined
        ? null
        : await getParent(context, connection, 'environment', parentOptions)
    const variables = {
      applicationId: app?.id ?? '',
      ...(environment && { environmentId: environment.id }),
      ...(filters && { filters }),
      ...(order && { order }),
    }
    const listed = await readPages(limit, async (request) => {
      const all = { ...variables, ...request }
      return (await graphql(connection, pageBackendsDocument, all, { signal: context.signal }))
        .backendsConnection
    })
    const rows = context.format === 'table' ? listed.rows.map(formatBackend) : listed.rows
    printListed(context, columns, { ...listed, rows })
  })
}

const formatBackend = (row: Row): Row => ({
  ...row,
  environment: (row['environment'] as Row | null)?.['name'],
  machineUser: (row['machineUser'] as Row | null)?.['name'],
})
