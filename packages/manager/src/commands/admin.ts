import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import {
  type AdministratorsService,
  createAdministratorsService,
} from '../features/users/administrators.service.ts'
import { createAudit } from '../platform/audit/append.ts'
import { loadCommandConfig, withDatabase } from './context.ts'
import type { Terminal } from './terminal.ts'

const maxListed = 1_000

/** Adds the `manager admin` commands. */
export function addAdminCommands(program: Command, terminal: Terminal): void {
  const admin = program
    .command('admin')
    .description('Manage administrators from the command line.')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run manager -- admin grant alice@example.com
  $ npm run manager -- admin list
  $ npm run manager -- admin revoke alice@example.com`,
    )

  admin
    .command('grant')
    .description('Grant the system role administrator to a user. Use it to create the first administrator.')
    .argument('<email-or-subject>', 'e-mail of a user who has signed in, or the subject (a UUID) of any user')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run manager -- admin grant alice@example.com
  $ npm run manager -- admin grant 0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de`,
    )
    .action(async (subjectOrEmail: string, _options, command: Command) => {
      const user = await withAdministrators(loadCommandConfig(terminal, command), (all) =>
        all.grant(subjectOrEmail),
      )
      terminal.say(`${user.externalUsername} (${user.id}) is an administrator.`)
    })

  admin
    .command('revoke')
    .description(
      'Revoke the system role administrator from a user. The last administrator cannot be revoked.',
    )
    .argument('<email-or-subject>', 'e-mail or subject (a UUID) of a user who has signed in')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run manager -- admin revoke alice@example.com
  $ npm run manager -- admin revoke 0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de`,
    )
    .action(async (subjectOrEmail: string, _options, command: Command) => {
      const { before, after } = await withAdministrators(loadCommandConfig(terminal, command), (all) =>
        all.revoke(subjectOrEmail),
      )
      const name = `${after.externalUsername} (${after.id})`
      terminal.say(
        before.role === after.role
          ? `${name} is not an administrator.`
          : `${name} is no longer an administrator.`,
      )
    })

  addListCommand(admin, terminal)
}

function addListCommand(admin: Command, terminal: Terminal): void {
  admin
    .command('list')
    .description(
      'List the administrators, each with subject, user name, e-mail, and the time of the grant from the audit trail.',
    )
    .option('--json', 'print one JSON object per administrator instead of text')
    .addHelpText(
      'after',
      '\nExamples:\n  $ npm run manager -- admin list\n  $ npm run manager -- admin list --json',
    )
    .action(async (options: { json?: boolean }, command: Command) => {
      const administrators = await withAdministrators(loadCommandConfig(terminal, command), (all) =>
        all.list(maxListed + 1),
      )
      for (const { id, externalUsername: username, externalEmail: email, since } of administrators.slice(
        0,
        maxListed,
      ))
        terminal.say(
          options.json === true
            ? JSON.stringify({ id, username, email, since })
            : `${id}  ${username}  ${email === '' ? '-' : email}  ${since ?? '-'}`,
        )
      // Print warnings to standard error, because --json must keep standard output machine-readable.
      if (administrators.length > maxListed)
        terminal.warn(
          `There are more than ${maxListed} administrators. The list contains the administrators with the lowest ids.`,
        )
      if (administrators.length === 0)
        terminal.warn('No administrator exists. Create the first one with `manager admin grant`.')
    })
}

const withAdministrators = <T>(
  config: Config,
  work: (administrators: AdministratorsService) => Promise<T>,
): Promise<T> =>
  withDatabase(config, ({ db, clock }) =>
    work(createAdministratorsService({ db, audit: createAudit(clock) })),
  )
