// What machine users have besides the commands of every resource: a new token.
import { graphql } from '@manager/client'
import { rotateMachineUserTokenDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { confirm } from '../confirm.ts'
import { addCommand, does } from '../context.ts'
import { printDone } from '../output.ts'
import { type ParentOptions, addParentOptions } from '../parents.ts'
import { findNamed } from '../resource-commands.ts'
import { machineUsers } from '../resources/machine-users.ts'
import { intoSecretFile } from '../secret-files.ts'
import type { World } from '../world.ts'

/** Adds `rotate`. */
export function addMachineUserCommands(group: Command, world: World): void {
  const command = addCommand(group, {
    name: 'rotate',
    description: 'Replaces the token or password; the former one stops working at once.',
    examples: ['machine-users rotate billing -p shop -e dev --token-file new.token'],
  })
    .argument('<machine-user>', 'its name, username or id')
    .requiredOption('--token-file <file>', 'where the new one is written, readable by you alone')
    .option('-y, --yes', 'do not ask')
  addParentOptions(command, 'environment')
  does<ParentOptions & { tokenFile: string; yes?: boolean }>(
    command,
    world,
    async (context, [named = ''], options) => {
      const { connection, row } = await findNamed(context, machineUsers, named, options)
      await confirm(world, `Replace the credential of ${named} at once?`, options.yes === true)
      const { machineUser } = await intoSecretFile(options.tokenFile, async () => {
        const answer = await graphql(connection, rotateMachineUserTokenDocument, { id: String(row['id']) })
        const { generatedToken, ...rest } = answer.rotateMachineUserToken
        return { ...rest, secret: generatedToken }
      })
      const sentence = `Rotated machine user ${named}. Its credential is in ${options.tokenFile}.`
      printDone(world, context.format, sentence, machineUser)
    },
  )
}
