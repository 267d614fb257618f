import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { type SchemaStatus, migrateUp, schemaStatus, withClient } from '../platform/postgres/migrate.ts'
import { commandConfig } from './context.ts'
import type { Terminal } from './terminal.ts'

const exitCodes = { fits: 0, 'too old': 3, 'too new': 4 }

/** manager migrate … */
export function addMigrateCommands(program: Command, terminal: Terminal): void {
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
      const config = commandConfig(terminal, command)
      const done = await migrateUp(config.databaseUrl, terminal.say, config.databaseServiceRole)
      for (const name of done) terminal.say(`applied ${name}`)
      terminal.say(
        done.length === 0
          ? 'nothing to do: the schema is up to date'
          : `done: ${done.length} migration(s) applied`,
      )
    })

  migrate
    .command('status')
    .description('List the applied and the pending migrations.')
    .action(async (_options, command: Command) => {
      const status = await readStatus(commandConfig(terminal, command))
      for (const name of status.applied)
        terminal.say(
          `applied  ${name}${status.unknown.includes(name) ? '  (not known to this release)' : ''}`,
        )
      for (const name of status.pending) terminal.say(`pending  ${name}`)
      terminal.say(
        `verdict: the schema ${status.verdict === 'fits' ? 'fits this release' : `is ${status.verdict}`}`,
      )
    })

  migrate
    .command('check')
    .description(
      'Tell by the exit code whether this release can start: 0 fits, 3 schema too old, 4 schema too new.',
    )
    .action(async (_options, command: Command) => {
      const { verdict, pending } = await readStatus(commandConfig(terminal, command))
      terminal.say(verdict === 'fits' ? 'the schema fits this release' : `the schema is ${verdict}`)
      if (pending.length > 0) terminal.say(`pending: ${pending.join(', ')}`)
      terminal.exitCode = exitCodes[verdict]
    })

  addBaselineCommand(migrate, terminal)
}

function addBaselineCommand(migrate: Command, terminal: Terminal): void {
  migrate
    .command('baseline')
    .description(
      'For a database whose tables exist without a record of migrations: find which migration its schema corresponds to, ' +
        'and record the migrations up to it as applied. A schema that differs is refused, and nothing is recorded.',
    )
    .argument(
      '[migration]',
      'the migration that the schema has to correspond to, for example 0027_deployments',
    )
    .option('--dry-run', 'only tell what would be recorded', false)
    .addHelpText(
      'after',
      `
Examples:
  $ npm run manager -- migrate baseline --dry-run
  $ npm run manager -- migrate baseline
  $ npm run manager -- migrate baseline 0027_deployments`,
    )
    .action(async (wanted: string | undefined, { dryRun }: { dryRun: boolean }, command: Command) => {
      const { databaseUrl } = commandConfig(terminal, command)
      // It comes with the history of the schema, which nothing else needs.
      const { migrateBaseline } = await import('../platform/postgres/baseline.ts')
      const { last, recorded } = await migrateBaseline(databaseUrl, terminal.say, { wanted, dryRun })
      terminal.say(`the schema is that of ${last}`)
      terminal.say(`${dryRun ? 'would be recorded' : 'recorded'} as applied: ${recorded.join(', ')}`)
    })
}

const readStatus = ({ databaseUrl }: Config): Promise<SchemaStatus> => withClient(databaseUrl, schemaStatus)
