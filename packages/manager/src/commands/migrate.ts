import type { Command } from 'commander'
import {
  type SchemaStatus,
  migrateBaseline,
  migrateUp,
  schemaStatus,
  withClient,
} from '../platform/db/migrate.ts'
import { commandConfig, say } from './context.ts'

const exitCodes = { fits: 0, 'too old': 3, 'too new': 4 }

/** manager migrate … */
export function addMigrateCommands(program: Command): void {
  const migrate = program
    .command('migrate')
    .description(
      'Bring the database schema to this release. Migrations only go forward and never run at boot.',
    )
    .addHelpText('after', '\nExample:\n  $ npm run manager -- migrate up')

  migrate
    .command('up')
    .description(
      'Apply every pending migration. Safe to run twice or from two places at once: the second one waits.',
    )
    .action(async (_options, command: Command) => {
      const config = commandConfig(command)
      const done = await migrateUp(config.databaseUrl, say, config.databaseServiceRole)
      for (const name of done) say(`applied ${name}`)
      say(
        done.length === 0
          ? 'nothing to do: the schema is up to date'
          : `done: ${done.length} migration(s) applied`,
      )
    })

  migrate
    .command('status')
    .description('List the applied and the pending migrations.')
    .action(async (_options, command: Command) => {
      const status = await readStatus(command)
      for (const name of status.applied)
        say(`applied  ${name}${status.unknown.includes(name) ? '  (not known to this release)' : ''}`)
      for (const name of status.pending) say(`pending  ${name}`)
      say(`verdict: the schema ${status.verdict === 'fits' ? 'fits this release' : `is ${status.verdict}`}`)
    })

  migrate
    .command('check')
    .description(
      'Tell by the exit code whether this release can start: 0 fits, 3 schema too old, 4 schema too new.',
    )
    .action(async (_options, command: Command) => {
      const { verdict, pending } = await readStatus(command)
      say(verdict === 'fits' ? 'the schema fits this release' : `the schema is ${verdict}`)
      if (pending.length > 0) say(`pending: ${pending.join(', ')}`)
      process.exitCode = exitCodes[verdict]
    })

  migrate
    .command('baseline')
    .description(
      'Record migrations as applied without running them, for an install that has their tables already.',
    )
    .argument('<migration>', 'the last migration whose tables exist, for example 0001_core')
    .action(async (last: string, _options, command: Command) => {
      const names = await migrateBaseline(commandConfig(command).databaseUrl, say, last)
      say(`recorded as applied: ${names.join(', ')}`)
    })
}

const readStatus = (command: Command): Promise<SchemaStatus> =>
  withClient(commandConfig(command).databaseUrl, schemaStatus)
