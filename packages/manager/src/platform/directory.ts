// The user directory behind userProviderSearch. `local` knows the users the service has seen; an LDAP or OIDC
// directory would be a second implementation of the same interface.
import type { Db } from './db/database.ts'
import { containsPattern } from './lists/filters.ts'

export type DirectoryUser = {
  id: string
  username: string
  email: string
  displayName: string
  disabled: boolean
}

export type UserDirectory = {
  /** People whose name, user name or e-mail contains the text, at most `limit`. */
  search(text: string, limit: number): Promise<DirectoryUser[]>
}

/** The directory made of our own users table; the trigram indexes keep a search off a full scan. */
export function createLocalDirectory(db: Db): UserDirectory {
  return {
    search: async (text, limit) => {
      const pattern = containsPattern(text)
      const rows = await db
        .selectFrom('users')
        .select(['id', 'externalUsername', 'externalEmail', 'externalName'])
        .where((eb) =>
          eb.or([
            eb('externalName', 'ilike', pattern),
            eb('externalUsername', 'ilike', pattern),
            eb('externalEmail', 'ilike', pattern),
          ]),
        )
        .orderBy('externalName')
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map((row) => ({
        id: row.id,
        username: row.externalUsername,
        email: row.externalEmail,
        displayName: row.externalName,
        disabled: false,
      }))
    },
  }
}
