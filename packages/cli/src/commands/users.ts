// The commands of `users` that change a user or search the directory.
import { graphql } from '@manager/client'
import {
  deactivateUserDocument,
  reactivateUserDocument,
  searchUserProviderDocument,
  updateUserSystemRoleDocument,
} from '@manager/client/documents'
import { Argument, type Command } from 'commander'
import { confirm } from '../confirm.ts'
import { addCommand, setAction } from '../context.ts'
import { printResult, printRows } from '../output.ts'
import { describeKeys, findNamedRow } from '../resource-commands.ts'
import { users } from '../resources/users.ts'
import type { Terminal } from '../terminal.ts'

const userKeys = describeKeys(users)

export function addUserCommands(group: Command, terminal: Terminal): void {
  addFindCommand(group, terminal)
  addSetRoleCommand(group, terminal)
  addDeactivateCommand(group, terminal)
  const reactivate = addCommand(group, {
    name: 'reactivate',
    description:
      'Lift the deactivation by an administrator. A deactivation by the identity provider remains.',
    examples: ['users reactivate ann@acme.example'],
  }).argument('<user>', userKeys)
  setAction(reactivate, terminal, async (context, [named = '']) => {
    const { connection, row } = await findNamedRow(context, users, named, {})
    const variables = { id: String(row['id']), expectedRevision: Number(row['revision']) }
    const options = { signal: context.signal }
    const { reactivateUser } = await graphql(connection, reactivateUserDocument, variables, options)
    const note = reactivateUser.active
      ? ''
      : ' The user stays inactive: the identity provider deactivated them.'
    printResult(terminal, context.format, `Reactivated user ${named}.${note}`, reactivateUser)
  })
}

function addFindCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'find',
    description: 'Search the user directory by a part of a name, user name or e-mail address.',
    examples: ['users find ann'],
  }).argument('<text>', 'the text to search for')
  setAction(command, terminal, async (context, [name = '']) => {
    const connection = await context.connect()
    const result = await graphql(connection, searchUserProviderDocument, { name }, { signal: context.signal })
    const columns = ['username', 'displayName', 'email', 'disabled']
    printRows(terminal, context.format, columns, result.userProviderSearch)
  })
}

function addSetRoleCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'set-role',
    description: 'Change the system role of a user.',
    examples: ['users set-role ann@acme.example administrator'],
  })
    .argument('<user>', userKeys)
    .addArgument(new Argument('<role>', 'the system role').choices(['user', 'administrator']))
  setAction(command, terminal, async (context, [named = '', role = '']) => {
    const { connection, row } = await findNamedRow(context, users, named, {})
    const variables = { id: String(row['id']), role, expectedRevision: Number(row['revision']) }
    const options = { signal: context.signal }
    const result = await graphql(connection, updateUserSystemRoleDocument, variables, options)
    const sentence = `Changed the system role of user ${named} to ${role}.`
    printResult(terminal, context.format, sentence, result.updateUserSystemRole)
  })
}

function addDeactivateCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'deactivate',
    description:
      'Deactivate a user. The Manager rejects every further request of the user. Roles and tokens are kept.',
    examples: ['users deactivate ann@acme.example'],
  })
    .argument('<user>', userKeys)
    .option('-y, --yes', 'do not ask for confirmation')
  setAction<{ yes?: boolean }>(command, terminal, async (context, [named = ''], { yes = false }) => {
    const { connection, row } = await findNamedRow(context, users, named, {})
    await confirm(terminal, `Deactivate user ${named}?`, yes)
    const variables = { id: String(row['id']), expectedRevision: Number(row['revision']) }
    const options = { signal: context.signal }
    const { deactivateUser } = await graphql(connection, deactivateUserDocument, variables, options)
    printResult(terminal, context.format, `Deactivated user ${named}.`, deactivateUser)
  })
}
