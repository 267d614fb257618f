// The commands `triggers runs`, which lists trigger runs, and `triggers next`, which shows the next firing times.
import { graphql } from '@manager/client'
import { listTriggerRunsDocument, nextRunsDocument } from '@manager/client/documents'
import { type Command, InvalidArgumentError } from 'commander'
import { formatRun, runColumns } from '../call-rows.ts'
import { addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { printRows } from '../output.ts'
import { type ParentOptions, addParentOptions } from '../parents.ts'
import { findNamedRow } from '../resource-commands.ts'
import { triggers } from '../resources/triggers.ts'
import type { Terminal } from '../terminal.ts'

export function addTriggerCommands(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'runs',
    description: 'Show the recorded runs of a trigger, newest first.',
    examples: ['trigger runs nightly -p shop -a web', 'trigger runs nightly -p shop -a web --limit 5'],
  })
    .argument('<trigger>', 'the trigger, by name or id')
    .option('--limit <number>', 'the maximum number of runs, up to 100', parseLimit, 20)
  addParentOptions(command, 'app')
  setAction<ParentOptions & { limit: number }>(
    command,
    terminal,
    async (context, [triggerKey = ''], { limit, ...options }) => {
      const { connection, row } = await findNamedRow(context, triggers, triggerKey, options)
      const variables = { trigger: String(row['id']), limit }
      const { triggerRuns } = await graphql(connection, listTriggerRunsDocument, variables, {
        signal: context.signal,
      })
      const rows = triggerRuns.map(formatRun)
      printRows(terminal, context.format, runColumns, rows)
    },
  )
  addNextCommand(group, terminal)
}

function addNextCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'next',
    description: 'Show when a trigger fires next, or when a schedule would fire.',
    examples: ['triggers next nightly -p shop -a web', 'triggers next --cron-expression "0 3 * * *"'],
  })
    .argument('[trigger]', 'the trigger, by name or id')
    .option('--cron-expression <text>', 'a schedule to test instead of the schedule of a trigger')
  addParentOptions(command, 'app')
  setAction<ParentOptions & { cronExpression?: string }>(
    command,
    terminal,
    async (context, [triggerKey], { cronExpression, ...options }) => {
      if ((triggerKey === undefined) === (cronExpression === undefined))
        throw new Failure('usage', 'Pass either a trigger or --cron-expression.')
      const expression =
        cronExpression ??
        (await findNamedRow(context, triggers, triggerKey ?? '', options)).row['cronExpression']
      const connection = await context.connect()
      const variables = { cronExpression: String(expression) }
      const { nextRuns } = await graphql(connection, nextRunsDocument, variables, { signal: context.signal })
      printRows(
        terminal,
        context.format,
        ['firesAt'],
        nextRuns.map((firesAt) => ({ firesAt })),
      )
    },
  )
}

function parseLimit(text: string): number {
  const limit = Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw new InvalidArgumentError('Use a number from 1 to 100.')
  return limit
}
