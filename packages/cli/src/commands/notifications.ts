// notifications: lists your notifications and marks them as read.
import { type Connection, graphql } from '@manager/client'
import { markMyNotificationsReadDocument, pageMyNotificationsDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { addListOptions, printListed } from '../list-options.ts'
import { printResult } from '../output.ts'
import { readPages } from '../pages.ts'
import { type ParentOptions, getProject } from '../parents.ts'
import { parseTime } from '../times.ts'
import { formatCount } from '../words.ts'
import type { Terminal } from '../terminal.ts'

type ListOptions = ParentOptions & {
  unread?: boolean
  type?: string
  from?: string
  to?: string
  limit: number
}
const projectOption = [
  '-p, --project <project>',
  'only notifications of this project, by slug or id',
] as const

export function addNotificationCommands(program: Command, terminal: Terminal): void {
  const group = addCommand(program, {
    name: 'notifications',
    description: 'Your notifications',
    examples: ['notifications list --unread'],
  }).alias('notification')
  const list = addCommand(group, {
    name: 'list',
    description: 'List your notifications, newest first.',
    examples: ['notifications list --unread', 'notifications list -p shop --type order.shipped'],
  })
    .option('--unread', 'list only unread notifications')
    .option('--type <type>', 'list only notifications of this type')
    .option('--from <time>', 'list notifications from this time (RFC 3339) or day (UTC)', parseTime)
    .option('--to <time>', 'list notifications before this time or day', parseTime)
    .option(...projectOption)
  addListOptions(list, { hasFilters: false, limit: 50 })
  setAction<ListOptions>(list, terminal, async (context, _args, { limit, unread, ...options }) => {
    const connection = await context.connect()
    const { type, from, to } = options
    const projectId = await findProjectId(context, connection, options)
    const filters = { unread, type, from, to, ...projectId }
    const { rows, hasMore } = await readPages(limit, async ({ pagination, ...cursor }) => {
      const variables = { ...filters, ...cursor, first: pagination.limit }
      const result = await graphql(connection, pageMyNotificationsDocument, variables, context)
      return result.myNotifications
    })
    printListed(context, ['createdAt', 'severity', 'title', 'type', 'read'], { rows, hasMore })
  })
  addReadCommand(group, terminal)
}

/** Returns the project that --project names. Ignores SVC_PROJECT, because the inbox covers all projects. */
const findProjectId = async (context: Context, connection: Connection, options: ParentOptions) =>
  options.project === undefined ? {} : { projectId: (await getProject(context, connection, options)).id }

function addReadCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'read',
    description: 'Mark notifications as read: all of them, or those with the given ids.',
    examples: ['notifications read --all', 'notifications read --all -p shop'],
  })
    .argument('[id...]', 'the ids of notifications')
    .option('--all', 'mark all unread notifications')
    .option(...projectOption)
  setAction<ParentOptions & { all?: boolean }>(command, terminal, async (context, ids, options) => {
    const { all = false } = options
    if (all === ids.length > 0)
      throw new Failure('usage', 'Pass either ids or --all. See the ids with: svc notifications list --json')
    const connection = await context.connect()
    const variables = all ? { all, ...(await findProjectId(context, connection, options)) } : { ids }
    const result = await graphql(connection, markMyNotificationsReadDocument, variables, context)
    const { updated, isComplete } = result.markMyNotificationsRead
    const note = isComplete ? '' : ' Run the command again to mark the others.'
    const sentence = `Marked ${formatCount(updated, 'notification')} as read.${note}`
    printResult(terminal, context.format, sentence, { updated, isComplete })
  })
}
