// What tokens have besides the commands of every resource: their end.
import { graphql } from '@manager/client'
import { revokeTokenDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { confirm } from '../confirm.ts'
import { addCommand, does } from '../context.ts'
import { printDone } from '../output.ts'
import { findNamed } from '../resource-commands.ts'
import { tokens } from '../resources/tokens.ts'
import type { World } from '../world.ts'

/** Adds `revoke`. */
export function addTokenCommands(group: Command, world: World): void {
  const command = addCommand(group, {
    name: 'revoke',
    description: 'Takes a token out of service at once; it stays in the list.',
    examples: ['tokens revoke pipeline'],
  })
    .argument('<token>', 'its name or id')
    .option('-y, --yes', 'do not ask')
  does<{ yes?: boolean }>(command, world, async (context, [named = ''], { yes = false }) => {
    const { connection, row } = await findNamed(context, tokens, named, {})
    await confirm(world, `Revoke token ${named} (${String(row['id'])})?`, yes)
    const options = { signal: context.signal }
    const answer = await graphql(connection, revokeTokenDocument, { id: String(row['id']) }, options)
    printDone(world, context.format, `Revoked token ${named}.`, answer.revokePersonalAccessToken)
  })
}
