// The command `tokens revoke`.
import { graphql } from '@manager/client'
import { revokeTokenDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { confirm } from '../confirm.ts'
import { addCommand, setAction } from '../context.ts'
import { printResult } from '../output.ts'
import { findNamedRow } from '../resource-commands.ts'
import { tokens } from '../resources/tokens.ts'
import type { Terminal } from '../terminal.ts'

export function addTokenCommands(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'revoke',
    description: 'Revoke a token immediately. The revoked token stays in the list.',
    examples: ['tokens revoke pipeline'],
  })
    .argument('<token>', 'the token, by name or id')
    .option('-y, --yes', 'do not ask for confirmation')
  setAction<{ yes?: boolean }>(command, terminal, async (context, [tokenKey = ''], { yes = false }) => {
    const { connection, row } = await findNamedRow(context, tokens, tokenKey, {})
    await confirm(terminal, `Revoke token ${tokenKey} (${String(row['id'])})?`, yes)
    const options = { signal: context.signal }
    const result = await graphql(connection, revokeTokenDocument, { id: String(row['id']) }, options)
    printResult(terminal, context.format, `Revoked token ${tokenKey}.`, result.revokePersonalAccessToken)
  })
}
