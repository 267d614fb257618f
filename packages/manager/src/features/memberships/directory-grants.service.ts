// Lets a grant name a person who is in the user directory and has never signed in.
import type { Actor } from '../../policy/actor.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import type { UsersApi } from '../users/index.ts'

/** Creates the user in the transaction of the grant, after its checks; does nothing if the user exists. */
type AddUser = () => Promise<void>
/** Runs a grant in a transaction. It runs a second time if the user exists only in the directory. */
export type GrantToUser = <T>(
  actor: Actor,
  userId: string,
  grant: (tx: Tx, addUser: AddUser) => Promise<T>,
) => Promise<T>

const userConstraints = new Set([
  'user2projects_user_fkey',
  'user2tenants_user_fkey',
  'user2applications_user_fkey',
])
const doNothing: AddUser = () => Promise.resolve()

const isUnknownUser = (error: unknown): boolean =>
  userConstraints.has((error as { constraint?: string }).constraint ?? '')

/**
 * The first run fails at the foreign key if the user is unknown, which is after all checks of the caller's rights. So
 * callers without these rights learn nothing about the directory, grants to known users cost nothing, and no lock is held
 * while the directory is searched.
 */
export const createGrantToUser =
  ({ db, users: { directory } }: { db: Db; users: Pick<UsersApi, 'directory'> }): GrantToUser =>
  async (actor, userId, grant) => {
    try {
      return await db.transaction((tx) => grant(tx, doNothing))
    } catch (error) {
      const person = isUnknownUser(error) ? await directory.find(actor, userId) : null
      if (person === null) throw error
      return db.transaction((tx) => grant(tx, () => directory.add(tx, person)))
    }
  }
