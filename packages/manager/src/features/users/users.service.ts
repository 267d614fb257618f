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

/** Rules about users. Their id is the subject the identity provider gave them. */
export function createUsersService({ db, audit, directory }: UsersDeps) {
  const writeRole = createWriteRole(audit)
  return {
    /** The user behind a forwarded identity; created at first sight, name and e-mail kept up to date. */
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
        // Checked again under the lock: a caller who has lost the role meanwhile cannot grant it.
        if (locked.find(({ id: one }) => one === actor.user.id)?.role !== 'administrator')
          throw notPermitted('system roles need system role administrator')
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
  // The proxy forwards no user name; the e-mail is what people recognise each other by.
  username: email ?? name ?? subject,
})
