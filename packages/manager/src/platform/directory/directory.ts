// The user directory behind userProviderSearch. `local` contains the users that the service has seen, and `scim` those whom
// an identity provider manages; ldap-directory.ts is another implementation of the same interface.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../postgres/handles.ts'
import type { CountedPage } from '../lists/memory-page.ts'
import { type ListFields, type Page, createContainsPattern, createStartPattern } from '../lists/filters.ts'
import { fetchPage } from '../lists/page.ts'

/** A user in the directory. */
export type DirectoryUser = {
  id: string
  username: string
  email: string
  displayName: string
  disabled: boolean
}

/** A source of users for userProviderSearch. */
export type UserDirectory = {
  /**
   * Returns a page of users whose name, user name or e-mail contains the text. Search text shorter than three
   * characters must match the start. Sorts by name unless the page specifies a different order. Callers share a slow
   * directory fairly. `listCount` is set if the directory returns all pages at once.
   */
  search(text: string, page: Page, callerId: string): Promise<CountedPage<DirectoryUser>>
  /**
   * Returns a person who has never signed in, or null. Must not run in a transaction, because the directory may be slow.
   */
  find(id: string, callerId: string): Promise<DirectoryUser | null>
}

/** Fields to filter and sort by. `disabled` is missing: the local directory does not store it. */
export const directoryFields: ListFields = {
  id: { column: 'id', match: 'id' },
  username: { column: 'externalUsername', match: 'text' },
  email: { column: 'externalEmail', match: 'text' },
  displayName: { column: 'externalName', match: 'text' },
}
/** The order of a search without `order`. */
export const nameOrder: Page['order'] = [{ column: 'externalName', direction: 'asc' }]

/** Creates the directory of the users that the Manager has seen. */
export const createLocalDirectory = (db: Db): UserDirectory => createUsersDirectory(db, sql<boolean>`true`)

/** Creates the directory of the users whom an identity provider manages over SCIM. */
export const createScimDirectory = (db: Db): UserDirectory =>
  createUsersDirectory(db, sql<boolean>`users.is_provisioned`)

/** Creates a directory over rows of the `users` table; trigram indexes avoid a full scan. */
function createUsersDirectory(db: Db, isIncluded: RawBuilder<boolean>): UserDirectory {
  return {
    search: async (text, page) => {
      // Search text without a trigram would scan the whole table, so it matches only prefixes, through a
      // separate index.
      const isShort = Array.from(text).length < 3
      const pattern = isShort ? createStartPattern(text.toLowerCase()) : createContainsPattern(text)
      const matches = (column: 'externalName' | 'externalUsername' | 'externalEmail') =>
        isShort ? sql`lower(${sql.ref(column)}) like ${pattern}` : sql`${sql.ref(column)} ilike ${pattern}`
      const rows = await fetchPage(db.read, {
        table: 'users',
        columns: [
          'id',
          'externalUsername',
          'externalEmail',
          'externalName',
          'deactivatedByScimAt',
          'deactivatedByAdministratorAt',
        ],
        page: page.order.length > 0 ? page : { ...page, order: nameOrder },
        where: sql<boolean>`${isIncluded}
          and (${matches('externalName')} or ${matches('externalUsername')} or ${matches('externalEmail')})`,
      })
      return rows.map(toDirectoryUser)
    },
    // The directory contains only users that have a row already.
    find: () => Promise.resolve(null),
  }
}

type FoundUser = {
  id: string
  externalUsername: string
  externalEmail: string
  externalName: string
  deactivatedByScimAt: string | null
  deactivatedByAdministratorAt: string | null
}

/** Other properties, such as the cursor of a row, are kept. */
function toDirectoryUser(user: FoundUser): DirectoryUser {
  const { externalUsername, externalEmail, externalName, ...others } = user
  const { deactivatedByScimAt, deactivatedByAdministratorAt, ...row } = others
  return {
    ...row,
    username: externalUsername,
    email: externalEmail,
    displayName: externalName,
    disabled: deactivatedByScimAt !== null || deactivatedByAdministratorAt !== null,
  }
}
