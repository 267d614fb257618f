// Finds people by e-mail address, user name or id.
import { type CallOptions, type Connection, graphql } from '@manager/client'
import { searchUserProviderDocument } from '@manager/client/documents'
import { Failure } from './failures.ts'
import type { Row } from './output.ts'
import { users } from './resources/users.ts'
import { getRow, isId } from './rows.ts'

/** Returns the user that the text names. Throws if the caller cannot see such a user. */
export const getUser = (connection: Connection, named: string, { signal }: CallOptions): Promise<Row> =>
  getRow(connection, users, null, { named, signal })

/** Returns the id of a user. The user may be a person in the directory who has never signed in. */
export async function getPersonId(
  connection: Connection,
  named: string,
  { signal }: CallOptions,
): Promise<string> {
  if (isId(named)) return named
  try {
    return String((await getUser(connection, named, { signal }))['id'])
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'notFound') throw error
  }
  const result = await graphql(connection, searchUserProviderDocument, { name: named }, { signal })
  const lowerCaseName = named.toLowerCase()
  const matches = result.userProviderSearch.filter(({ username, email }) =>
    [username, email].some((text) => text.toLowerCase() === lowerCaseName),
  )
  if (matches.length > 1)
    throw new Failure('usage', `${matches.length} people are named ${named}. Use the e-mail address.`)
  if (matches[0] !== undefined) return matches[0].id
  throw new Failure(
    'notFound',
    `No person has the e-mail address or user name ${named}. Search with: svc users find <part of a name>. To invite a person, run: svc invitations create ${named} --role <role>`,
  )
}
