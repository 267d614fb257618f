import type { Command } from 'commander'
import { createUsersService } from '../features/users/users.service.ts'
import { createAudit } from '../platform/audit/append.ts'
import { createLocalDirectory } from '../features/users/directory.store.ts'
import { commandConfig, say, withDatabase } from './context.ts'

/** manager admin … */
export function addAdminCommands(program: Command): void {
  const admin = program
    .command('admin')
    .description('Manage administrators from the command line.')
    .addHelpText('after', '\nExample:\n  $ npm run manager -- admin grant alice@example.com')

  admin
    .command('grant')
    .description('Give a user the system role administrator. The first administrator is made this way.')
    .argument('<email-or-subject>', 'e-mail of a user who has signed in, or the subject (a UUID) of any user')
    .action(async (subjectOrEmail: string, _options, command: Command) => {
      const user = await withDatabase(commandConfig(command), ({ db, clock }) =>
        createUsersService({
          db,
          audit: createAudit(clock),
          directory: createLocalDirectory(db),
        }).grantAdministrator(subjectOrEmail),
      )
      say(`${user.externalUsername} (${user.id}) is administrator`)
    })
}
