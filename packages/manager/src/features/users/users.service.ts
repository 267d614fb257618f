import { type Actor, createDeactivatedError } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import { systemRoles } from '../../policy/roles.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import type { RunLookup } from '../../platform/postgres/lookups.ts'
import {
  type DirectoryUser,
  type UserDirectory,
  directoryFields,
} from '../../platform/directory/directory.ts'
import { badRequest, orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import type { CountedPage } from '../../platform/lists/memory-page.ts'
import { checkFields } from '../../platform/inputs/fields.ts'
import { checkOneOf } from '../../platform/inputs/inputs.ts'
import { assertStillAdministrator, createRoleWriter } from './administrators.service.ts'
import { isActive } from './lifecycle.pure.ts'
import * as store from './users.store.ts'

export type UsersDeps = { db: Db; lookUp: RunLookup; audit: Audit; directory: UserDirectory }
export type UsersService = ReturnType<typeof createUsersService>
export type ForwardedIdentity = { subject: string; email: string | null; name: string | null }

/** Provisions and lists users, and changes system roles. The user id is the subject from the identity provider. */
export function createUsersService({ db, lookUp, audit, directory }: UsersDeps) {
  const writeRole = createRoleWriter(audit)
  return {
    /**
     * Returns the user for a forwarded identity. Creates the user on the first sign-in, and updates name and e-mail unless
     * an identity provider manages them over SCIM. Throws 401 if the person is deactivated.
     */
    provision: async (identity: ForwardedIdentity): Promise<store.User> => {
      const existingUser = await lookUp(store.userLookup, [identity.subject])
      const isUpToDate =
        existingUser !== null &&
        (existingUser.isProvisioned ||
          ((identity.name === null || identity.name === existingUser.externalName) &&
            (identity.email === null || identity.email === existingUser.externalEmail)))
      const user = isUpToDate ? existingUser : await store.upsertUser(db.idempotent, addUsername(identity))
      if (!isActive(user)) throw createDeactivatedError()
      return user
    },

    list: (actor: Actor, args: ListArgs): Promise<store.User[]> =>
      store.listUsers(
        db.read,
        readPage(store.userFields, args),
        actor.isAdministrator ? null : actor.user.id,
      ),

    get: async (actor: Actor, id: string): Promise<store.User> => {
      const userId = orNotFound(parseUuid(id), 'user')
      const caller = actor.isAdministrator ? null : actor.user.id
      return orNotFound(await store.findVisibleUser(db.read, userId, caller), 'user')
    },

    findMany: (ids: readonly string[]): Promise<store.User[]> => store.findUsers(db.read, ids),

    search: async (actor: Actor, text: string, args: ListArgs): Promise<CountedPage<DirectoryUser>> => {
      const searchText = text.replaceAll('\0', '').trim()
      const { '': page } = checkFields({
        name: () => {
          if (searchText === '' || searchText.length > 200)
            throw badRequest('name must have 1 to 200 characters')
        },
        '': () => readPage(directoryFields, args),
      })
      return directory.search(searchText, page, actor.user.id)
    },

    updateSystemRole: (
      actor: Actor,
      id: string,
      role: string,
      expectedRevision: ExpectedRevision,
    ): Promise<store.User> => {
      const { role: newRole } = checkFields({ role: () => checkOneOf(role, 'role', systemRoles) })
      const userId = parseUuid(id)
      return db.transaction(async (tx) => {
        const lockedUsers = await store.lockUsers(tx, [actor.user.id, ...(userId === null ? [] : [userId])])
        assertStillAdministrator(lockedUsers, actor)
        const before = orNotFound(
          lockedUsers.find(({ id: lockedId }) => lockedId === userId),
          'user',
        )
        await checkRevision(tx, actor, before, expectedRevision)
        return writeRole(tx, actor, before, newRole)
      })
    },
  }
}

const addUsername = ({ subject, email, name }: ForwardedIdentity) => ({
  id: subject,
  email,
  name,
  // The proxy forwards no user name, and people recognize each other by e-mail.
  username: email ?? name ?? subject,
})
