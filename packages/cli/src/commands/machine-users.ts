// Additional command of `machine-users`: rotate the credential.
import { graphql } from '@manager/client'
import { rotateMachineUserTokenDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { confirm } from '../confirm.ts'
import { addCommand, setAction } from '../context.ts'
import { printDone } from '../output.ts'
import { type ParentOptions, addParentOptions } from '../parents.ts'
import { findNamed } from '../resource-commands.ts'
import { machineUsers } from '../resources/machine-users.ts'
import { writeSecretFile } from '../secret-files.ts'
import type { Terminal } from '../terminal.ts'

/** Adds `rotate`. */
export function addMachineUserCommands(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'rotate',
    description: 'Replaces the token or password. The previous one stops working immediately.',
    examples: ['machine-users rotate billing -p shop -e dev --token-file new.token'],
  })
    .argument('<machine-user>', 'its name, username or id')
    .requiredOption('--token-file <file>', 'the file for the new credential, readable only by you')
    .option('-y, --yes', 'do not ask for confirmation')
  addParentOptions(command, 'environment')
  setAction<ParentOptions & { tokenFile: string; yes?: boolean }>(
    command,
    terminal,
    async (context, [named = ''], options) => {
      const { connection, row } = await findNamed(context, machineUsers, named, options)
      await confirm(terminal, `Replace the credential of ${named} now?`, options.yes === true)
      const { machineUser } = await writeSecretFile(options.tokenFile, async () => {
        const answer = await graphql(connection, rotateMachineUserTokenDocument, { id: String(row['id']) })
        const { generatedToken, ...rest } = answer.rotateMachineUserToken
        return { ...rest, secret: generatedToken }
      })
      const sentence = `Rotated machine user ${named}. Its credential is in ${options.tokenFile}.`
      printDone(terminal, context.format, sentence, machineUser)
    },
  )
}
