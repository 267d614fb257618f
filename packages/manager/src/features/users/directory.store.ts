// The user directory behind userProviderSearch. `local` knows the users the service has seen; an LDAP or OIDC
// directory would be a second implementation of the same interface.
import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { containsPattern, startPattern } from '../../platform/lists/filters.ts'

export type DirectoryUser = {
  id: string
  username: string
  email: string
  displayName: string
  disabled: boolean
}

export type UserDirectory = {
  /**
   * People whose name, user name or e-mail contains the text, or begins with it when it has fewer than three
   * characters; at most `limit`.
   */
  search(text: string, limit: number): Promise<DirectoryUser[]>
}

/** The directory made of our own users table; the trigram indexes keep a search off a full scan. */
export function createLocalDirectory(db: Db): UserDirectory {
  return {
    search: async (text, limit) => {
      // A text without a trigram would read the whole table; it matches beginnings instead, by a separate index.
      const isShort = Array.from(text).length < 3
      const pattern = isShort ? startPattern(text.toLowerCase()) : containsPattern(text)
      const matches = (column: 'externalName' | 'externalUsername' | 'externalEmail') =>
        isShort
          ? sql<boolean>`lower(${sql.ref(column)}) like ${pattern}`
          : sql<boolean>`${sql.ref(column)} ilike ${pattern}`
      const rows = await db
        .selectFrom('users')
        .select(['id', 'externalUsername', 'externalEmail', 'externalName'])
        .where((eb) =>
          eb.or([matches('externalName'), matches('externalUsername'), matches('externalEmail')]),
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
