// Adds the subcommand `revoke` to `tokens`.
import { graphql } from '@manager/client'
import { revokeTokenDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { confirm } from '../confirm.ts'
import { addCommand, setAction } from '../context.ts'
import { printDone } from '../output.ts'
import { findNamed } from '../resource-commands.ts'
import { tokens } from '../resources/tokens.ts'
import type { Terminal } from '../terminal.ts'

/** Adds `revoke`. */
export function addTokenCommands(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'revoke',
    description: 'Revokes a token immediately. It stays in the list.',
    examples: ['tokens revoke pipeline'],
  })
    .argument('<token>', 'its name or id')
    .option('-y, --yes', 'do not ask for confirmation')
  setAction<{ yes?: boolean }>(command, terminal, async (context, [named = ''], { yes = false }) => {
    const { connection, row } = await findNamed(context, tokens, named, {})
    await confirm(terminal, `Revoke token ${named} (${String(row['id'])})?`, yes)
    const options = { signal: context.signal }
    const answer = await graphql(connection, revokeTokenDocument, { id: String(row['id']) }, options)
    printDone(terminal, context.format, `Revoked token ${named}.`, answer.revokePersonalAccessToken)
  })
}
