// The command `scim-tokens revoke`.
import { graphql } from '@manager/client'
import { revokeScimTokenDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { confirm } from '../confirm.ts'
import { addCommand, setAction } from '../context.ts'
import { printResult } from '../output.ts'
import { findNamedRow } from '../resource-commands.ts'
import { scimTokens } from '../resources/scim-tokens.ts'
import type { Terminal } from '../terminal.ts'

export function addScimTokenCommands(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'revoke',
    description: 'Revoke a token immediately. The revoked token stays in the list.',
    examples: ['scim-tokens revoke okta'],
  })
    .argument('<token>', 'the token, by name or id')
    .option('-y, --yes', 'do not ask for confirmation')
  setAction<{ yes?: boolean }>(command, terminal, async (context, [named = ''], { yes = false }) => {
    const { connection, row } = await findNamedRow(context, scimTokens, named, {})
    await confirm(terminal, `Revoke SCIM token ${named} (${String(row['id'])})?`, yes)
    const variables = { id: String(row['id']), expectedRevision: Number(row['revision']) }
    const options = { signal: context.signal }
    const { revokeScimToken } = await graphql(connection, revokeScimTokenDocument, variables, options)
    printResult(terminal, context.format, `Revoked SCIM token ${named}.`, revokeScimToken)
  })
}
