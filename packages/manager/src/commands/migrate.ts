import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { type SchemaStatus, migrateUp, readSchemaStatus, withClient } from '../platform/postgres/migrate.ts'
import { loadCommandConfig } from './context.ts'
import { formatQuantity } from './table.ts'
import type { Terminal } from './terminal.ts'

const exitCodes = { fits: 0, 'too old': 3, 'too new': 4 }

/** Adds the `manager migrate` commands. */
export function addMigrateCommands(program: Command, terminal: Terminal): void {
  const migrate = program
    .command('migrate')
    .description(
      'Migrate the database schema to this release. Migrations cannot be undone and never run at startup.',
    )
    .addHelpText('after', '\nExample:\n  $ npm run manager -- migrate up')

  migrate
    .command('up')
    .description('Apply all pending migrations. Safe to repeat or to run concurrently: the second run waits.')
    .action(async (_options, command: Command) => {
      const config = loadCommandConfig(terminal, command)
      const appliedMigrations = await migrateUp(config.databaseUrl, terminal.say, config.databaseServiceRole)
      for (const name of appliedMigrations) terminal.say(`applied ${name}`)
      terminal.say(
        appliedMigrations.length === 0
          ? 'Nothing to do: the schema is up to date.'
          : `Applied ${formatQuantity(appliedMigrations.length, 'migration')}.`,
      )
    })

  migrate
    .command('status')
    .description('List the applied and the pending migrations.')
    .action(async (_options, command: Command) => {
      const status = await readStatus(loadCommandConfig(terminal, command))
      for (const name of status.applied)
        terminal.say(`applied  ${name}${status.unknown.includes(name) ? '  (unknown to this release)' : ''}`)
      for (const name of status.pending) terminal.say(`pending  ${name}`)
      terminal.say(describeVerdict(status.verdict))
    })

  migrate
    .command('check')
    .description(
      'Check whether this release can start. Exit codes: 0 compatible, 3 schema too old, 4 schema too new.',
    )
    .action(async (_options, command: Command) => {
      const { verdict, pending } = await readStatus(loadCommandConfig(terminal, command))
      terminal.say(describeVerdict(verdict))
      if (pending.length > 0) terminal.say(`Pending migrations: ${pending.join(', ')}`)
      terminal.exitCode = exitCodes[verdict]
    })

  addBaselineCommand(migrate, terminal)
}

function addBaselineCommand(migrate: Command, terminal: Terminal): void {
  migrate
    .command('baseline')
    .description(
      'For a database that has tables but no record of migrations: find the migration that its schema matches, ' +
        'and record the migrations up to it as applied. If the schema matches no migration, nothing is recorded.',
    )
    .argument('[migration]', 'the expected migration, for example 0027_deployments')
    .option('--dry-run', 'show the migrations that would be recorded, but record nothing', false)
    .addHelpText(
      'after',
      `
Examples:
  $ npm run manager -- migrate baseline --dry-run
  $ npm run manager -- migrate baseline
  $ npm run manager -- migrate baseline 0027_deployments`,
    )
    .action(
      async (requestedMigration: string | undefined, { dryRun }: { dryRun: boolean }, command: Command) => {
        const { databaseUrl } = loadCommandConfig(terminal, command)
        // Import this module only here: it loads the schema history, which no other command needs.
        const { migrateBaseline } = await import('../platform/postgres/baseline.ts')
        const { last: lastMigration, recorded: recordedNames } = await migrateBaseline(
          databaseUrl,
          terminal.say,
          { requestedName: requestedMigration, dryRun },
        )
        terminal.say(`the schema matches ${lastMigration}`)
        terminal.say(`${dryRun ? 'would be recorded' : 'recorded'} as applied: ${recordedNames.join(', ')}`)
      },
    )
}

const describeVerdict = (verdict: SchemaStatus['verdict']): string =>
  verdict === 'fits'
    ? 'The schema is compatible with this release.'
    : `The schema is ${verdict} for this release.`

const readStatus = ({ databaseUrl }: Config): Promise<SchemaStatus> =>
  withClient(databaseUrl, readSchemaStatus)
