// The command `machine-users rotate`, which replaces the credential.
import { graphql } from '@manager/client'
import { rotateMachineUserTokenDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { confirm } from '../confirm.ts'
import { addCommand, setAction } from '../context.ts'
import { printResult } from '../output.ts'
import { type ParentOptions, addParentOptions } from '../parents.ts'
import { findNamedRow } from '../resource-commands.ts'
import { machineUsers } from '../resources/machine-users.ts'
import { writeSecretFile } from '../secret-files.ts'
import type { Terminal } from '../terminal.ts'

export function addMachineUserCommands(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'rotate',
    description:
      'Replace the token or password of a machine user. The previous credential stops working immediately.',
    examples: ['machine-users rotate billing -p shop -e dev --token-file new.token'],
  })
    .argument('<machine-user>', 'the machine user, by name, username or id')
    .requiredOption('--token-file <file>', 'the file for the new credential, readable only by you')
    .option('-y, --yes', 'do not ask for confirmation')
  addParentOptions(command, 'environment')
  setAction<ParentOptions & { tokenFile: string; yes?: boolean }>(
    command,
    terminal,
    async (context, [userKey = ''], options) => {
      const { connection, row } = await findNamedRow(context, machineUsers, userKey, options)
      await confirm(terminal, `Replace the credential of machine user ${userKey}?`, options.yes === true)
      const { machineUser } = await writeSecretFile(options.tokenFile, async () => {
        const result = await graphql(connection, rotateMachineUserTokenDocument, { id: String(row['id']) })
        const { generatedToken, ...rest } = result.rotateMachineUserToken
        return { ...rest, secret: generatedToken }
      })
      const sentence = `Rotated the credential of machine user ${userKey}. The new credential is in ${options.tokenFile}.`
      printResult(terminal, context.format, sentence, machineUser)
    },
  )
}
