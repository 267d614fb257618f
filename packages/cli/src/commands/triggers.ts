// What triggers have besides the commands of every resource: their runs.
import { graphql } from '@manager/client'
import { listTriggerRunsDocument } from '@manager/client/documents'
import { type Command, InvalidArgumentError } from 'commander'
import { addCommand, does } from '../context.ts'
import { printRows } from '../output.ts'
import { type ParentOptions, addParentOptions } from '../parents.ts'
import { findNamed } from '../resource-commands.ts'
import { triggers } from '../resources/triggers.ts'
import type { World } from '../world.ts'

/** Adds `runs`. */
export function addTriggerCommands(group: Command, world: World): void {
  const command = addCommand(group, {
    name: 'runs',
    description: 'Shows the recorded runs of a trigger, the newest first.',
    examples: ['trigger runs nightly -p shop -a web', 'trigger runs nightly -p shop -a web --limit 5'],
  })
    .argument('<trigger>', 'its name or id')
    .option('--limit <number>', 'at most so many, up to 100', asLimit, 20)
  addParentOptions(command, 'app')
  does<ParentOptions & { limit: number }>(
    command,
    world,
    async (context, [named = ''], { limit, ...options }) => {
      const { connection, row } = await findNamed(context, triggers, named, options)
      const variables = { trigger: String(row['id']), limit }
      const { triggerRuns } = await graphql(connection, listTriggerRunsDocument, variables, {
        signal: context.signal,
      })
      const rows = triggerRuns.map((run) => ({ ...run, environment: run.environment.name }))
      const columns = ['scheduledAt', 'environment', 'outcome', 'attempts', 'responseStatus', 'failure']
      printRows(world, context.format, columns, rows)
    },
  )
}

function asLimit(text: string): number {
  const limit = Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) throw new InvalidArgumentError('It is 1 to 100.')
  return limit
}
