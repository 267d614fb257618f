// The command `triggers runs`, which lists trigger runs.
import { graphql } from '@manager/client'
import { listTriggerRunsDocument } from '@manager/client/documents'
import { type Command, InvalidArgumentError } from 'commander'
import { addCommand, setAction } from '../context.ts'
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
      const rows = triggerRuns.map((run) => ({ ...run, environment: run.environment.name }))
      const columns = ['scheduledAt', 'environment', 'outcome', 'attempts', 'responseStatus', 'failure']
      printRows(terminal, context.format, columns, rows)
    },
  )
}

function parseLimit(text: string): number {
  const limit = Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw new InvalidArgumentError('Use a number from 1 to 100.')
  return limit
}
