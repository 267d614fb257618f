import type { Actor } from '../../policy/actor.ts'
import { systemRoles } from '../../policy/roles.ts'
import { type Audit, type AuditActor, systemActor } from '../../platform/audit/append.ts'
import { auditedEntity } from '../../platform/audit/entity.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { DirectoryUser, UserDirectory } from './directory.store.ts'
import { badRequest, forbidden, orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import { checkOneOf } from '../../platform/inputs/inputs.ts'
import * as store from './users.store.ts'

export type UsersDeps = { db: Db; audit: Audit; directory: UserDirectory }
export type UsersService = ReturnType<typeof createUsersService>
export type ForwardedIdentity = { subject: string; email: string | null; name: string | null }

const event = auditedEntity<store.User>({
  type: 'user',
  classes: {
    id: 'public',
    externalName: 'public',
    externalUsername: 'public',
    externalEmail: 'sensitive',
    role: 'public',
  },
  nameOf: (user) => user.externalUsername,
  projectOf: () => null,
})
const maxSearchResults = 25

/** Rules about users. Their id is the subject the identity provider gave them. */
export function createUsersService({ db, audit, directory }: UsersDeps) {
  const writeRole = async (
    tx: Tx,
    actor: AuditActor,
    before: store.User,
    role: string,
  ): Promise<store.User> => {
    if (before.role === role) return before
    const after = await store.setSystemRole(tx, before.id, role)
    await audit.append(tx, actor, event('update', { before, after }))
    return after
  }
  return {
    /** The user behind a forwarded identity; created at first sight, name and e-mail kept up to date. */
    provision: async (identity: ForwardedIdentity): Promise<store.User> => {
      const [known] = await store.findUsers(db, [identity.subject])
      const upToDate =
        known !== undefined &&
        (identity.name === null || identity.name === known.externalName) &&
        (identity.email === null || identity.email === known.externalEmail)
      return upToDate ? known : store.upsertUser(db, withUsername(identity))
    },

    list: (actor: Actor, args: ListArgs): Promise<store.User[]> =>
      store.listUsers(db, readPage(store.userFields, args), actor.isAdministrator ? null : actor.user.id),

    findMany: (ids: readonly string[]): Promise<store.User[]> => store.findUsers(db, ids),

    search: (text: string): Promise<DirectoryUser[]> => {
      const wanted = text.replaceAll('\0', '').trim()
      if (wanted === '' || wanted.length > 200) throw badRequest('name must have 1 to 200 characters')
      return directory.search(wanted, maxSearchResults)
    },

    updateSystemRole: (actor: Actor, id: string, role: string): Promise<store.User> => {
      const newRole = checkOneOf(role, 'role', systemRoles)
      const userId = parseUuid(id)
      return db.transaction().execute(async (tx) => {
        const locked = await store.lockUsers(tx, [actor.user.id, ...(userId === null ? [] : [userId])])
        // Checked again under the lock: a caller who has lost the role meanwhile cannot grant it.
        if (locked.find(({ id: one }) => one === actor.user.id)?.role !== 'administrator')
          throw forbidden('not permitted: system roles need system role administrator')
        const before = orNotFound(
          locked.find(({ id: one }) => one === userId),
          'user',
        )
        return writeRole(tx, actor, before, newRole)
      })
    },

    /** Makes the user with this subject or e-mail an administrator; a subject not seen yet is provisioned. */
    grantAdministrator: (subjectOrEmail: string): Promise<store.User> =>
      db.transaction().execute(async (tx) => {
        const before = await findOrProvision(tx, subjectOrEmail)
        return writeRole(tx, systemActor('manager admin grant'), before, 'administrator')
      }),
  }
}

const withUsername = ({ subject, email, name }: ForwardedIdentity) => ({
  id: subject,
  email,
  name,
  // The proxy forwards no user name; the e-mail is what people recognise each other by.
  username: email ?? name ?? subject,
})

async function findOrProvision(tx: Tx, subjectOrEmail: string): Promise<store.User> {
  const subject = parseUuid(subjectOrEmail)
  if (subject !== null) {
    const known = await store.lockUser(tx, subject)
    return known ?? store.upsertUser(tx, { id: subject, email: null, name: null, username: subject })
  }
  const found = await store.findUsersByEmail(tx, subjectOrEmail)
  if (found.length > 1)
    throw badRequest(`several users have the e-mail ${subjectOrEmail}; name the subject instead`)
  if (found[0] === undefined)
    throw badRequest(
      `no user with the e-mail ${subjectOrEmail} has signed in yet; name the subject (a UUID) instead`,
    )
  return found[0]
}
