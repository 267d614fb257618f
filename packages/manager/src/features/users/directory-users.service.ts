// Finds people in the user directory who have never signed in, and creates their users.
import type { Actor } from '../../policy/actor.ts'
import type { DirectoryUser, UserDirectory } from '../../platform/directory/directory.ts'
import { conflict } from '../../platform/errors.ts'
import type { Tx } from '../../platform/postgres/handles.ts'
import * as store from './users.store.ts'

export type DirectoryUsersService = ReturnType<typeof createDirectoryUsersService>

export function createDirectoryUsersService({ directory }: { directory: UserDirectory }) {
  return {
    /**
     * Returns a person in the user directory, or null. Throws if their account is disabled. Must not run in a
     * transaction, because the directory may be slow.
     */
    find: async (actor: Actor, userId: string): Promise<DirectoryUser | null> => {
      const person = await directory.find(userId, actor.user.id)
      if (person?.disabled === true)
        throw conflict(
          'the account of this user is disabled in the user directory; enable the account, then try again',
          'userID',
        )
      return person
    },

    /** Creates the user, unless they have signed in since. */
    add: (tx: Tx, { id, displayName, email, username }: DirectoryUser): Promise<void> =>
      store.insertUser(tx, {
        id,
        externalName: displayName,
        externalEmail: email,
        externalUsername: username,
      }),
  }
}
