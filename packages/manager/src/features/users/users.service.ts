import type { Actor } from '../../policy/actor.ts'
import { systemRoles } from '../../policy/roles.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import {
  type DirectoryUser,
  type UserDirectory,
  directoryFields,
} from '../../platform/directory/directory.ts'
import { badRequest, notPermitted, orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import { checkOneOf } from '../../platform/inputs/inputs.ts'
import { createWriteRole } from './administrators.service.ts'
import * as store from './users.store.ts'

export type UsersDeps = { db: Db; audit: Audit; directory: UserDirectory }
export type UsersService = ReturnType<typeof createUsersService>
export type ForwardedIdentity = { subject: string; email: string | null; name: string | null }

/** Provisions and lists users, and changes system roles. The user id is the subject from the identity provider. */
export function createUsersService({ db, audit, directory }: UsersDeps) {
  const writeRole = createWriteRole(audit)
  return {
    /** Returns the user for a forwarded identity. Creates the user on first use and updates name and e-mail. */
    provision: async (identity: ForwardedIdentity): Promise<store.User> => {
      const [known] = await store.findUsers(db.read, [identity.subject])
      const upToDate =
        known !== undefined &&
        (identity.name === null || identity.name === known.externalName) &&
        (identity.email === null || identity.email === known.externalEmail)
      return upToDate ? known : store.upsertUser(db.idempotent, withUsername(identity))
    },

    list: (actor: Actor, args: ListArgs): Promise<store.User[]> =>
      store.listUsers(
        db.read,
        readPage(store.userFields, args),
        actor.isAdministrator ? null : actor.user.id,
      ),

    findMany: (ids: readonly string[]): Promise<store.User[]> => store.findUsers(db.read, ids),

    search: async (text: string, args: ListArgs): Promise<DirectoryUser[]> => {
      const wanted = text.replaceAll('\0', '').trim()
      if (wanted === '' || wanted.length > 200) throw badRequest('name must have 1 to 200 characters')
      return directory.search(wanted, readPage(directoryFields, args))
    },

    updateSystemRole: (actor: Actor, id: string, role: string): Promise<store.User> => {
      const newRole = checkOneOf(role, 'role', systemRoles)
      const userId = parseUuid(id)
      return db.transaction(async (tx) => {
        const locked = await store.lockUsers(tx, [actor.user.id, ...(userId === null ? [] : [userId])])
        // The role is checked again under the lock, because a caller who has lost the role since then must not grant
        // it.
        if (locked.find(({ id: one }) => one === actor.user.id)?.role !== 'administrator')
          throw notPermitted('changing system roles requires system role administrator')
        const before = orNotFound(
          locked.find(({ id: one }) => one === userId),
          'user',
        )
        return writeRole(tx, actor, before, newRole)
      })
    },
  }
}

const withUsername = ({ subject, email, name }: ForwardedIdentity) => ({
  id: subject,
  email,
  name,
  // The proxy forwards no user name, and people recognize each other by e-mail.
  username: email ?? name ?? subject,
})
