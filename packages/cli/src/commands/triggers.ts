// Additional command of `triggers`: list trigger runs.
import { graphql } from '@manager/client'
import { listTriggerRunsDocument } from '@manager/client/documents'
import { type Command, InvalidArgumentError } from 'commander'
import { addCommand, setAction } from '../context.ts'
import { printRows } from '../output.ts'
import { type ParentOptions, addParentOptions } from '../parents.ts'
import { findNamed } from '../resource-commands.ts'
import { triggers } from '../resources/triggers.ts'
import type { Terminal } from '../terminal.ts'

/** Adds `runs`. */
export function addTriggerCommands(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'runs',
    description: 'Shows the recorded runs of a trigger, newest first.',
    examples: ['trigger runs nightly -p shop -a web', 'trigger runs nightly -p shop -a web --limit 5'],
  })
    .argument('<trigger>', 'its name or id')
    .option('--limit <number>', 'the maximum number of runs, up to 100', asLimit, 20)
  addParentOptions(command, 'app')
  setAction<ParentOptions & { limit: number }>(
    command,
    terminal,
    async (context, [named = ''], { limit, ...options }) => {
      const { connection, row } = await findNamed(context, triggers, named, options)
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

function asLimit(text: string): number {
  const limit = Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw new InvalidArgumentError('Use a number from 1 to 100.')
  return limit
}
