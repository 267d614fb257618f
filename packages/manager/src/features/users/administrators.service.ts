// Administrators as an operator appoints them, without being one: the command line, and the escape hatch of development.
import { type Audit, type AuditActor, systemActor } from '../../platform/audit/append.ts'
import { auditedEntity } from '../../platform/audit/entity.ts'
import { systemChain } from '../../platform/audit/entry.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { badRequest, conflict } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import * as store from './users.store.ts'

export type AdministratorsService = ReturnType<typeof createAdministratorsService>

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

/** Returns a function that sets the system role of a locked user, and audits a change. */
export function createWriteRole(audit: Audit) {
  return async (tx: Tx, actor: AuditActor, before: store.User, role: string): Promise<store.User> => {
    if (before.role === role) return before
    const after = await store.setSystemRole(tx, before.id, role)
    await audit.append(tx, actor, event('update', { before, after }))
    return after
  }
}

/** Each grant and each revocation is one transaction with its audit row. */
export function createAdministratorsService({ db, audit }: { db: Db; audit: Audit }) {
  const writeRole = createWriteRole(audit)
  return {
    /** Makes the user with this subject or e-mail an administrator; a subject not seen yet is provisioned. */
    grant: (subjectOrEmail: string): Promise<store.User> =>
      db.transaction(async (tx) => {
        const id = parseUuid(subjectOrEmail) ?? (await idByEmail(tx, subjectOrEmail))
        const [known] = await store.lockUsers(tx, [id])
        const before = known ?? (await store.upsertUser(tx, { id, email: null, name: null, username: id }))
        return writeRole(tx, systemActor('manager admin grant'), before, 'administrator')
      }),

    /** Takes the system role away from this user; the only administrator keeps it. */
    revoke: (subjectOrEmail: string): Promise<{ before: store.User; after: store.User }> =>
      db.transaction(async (tx) => {
        const id = parseUuid(subjectOrEmail) ?? (await idByEmail(tx, subjectOrEmail))
        // All administrators, so that two of these commands cannot take away the last two at once.
        const locked = await store.lockUserAndAdministrators(tx, id)
        const before = locked.find((user) => user.id === id)
        if (before === undefined)
          throw badRequest(`no user has the subject ${id}; \`manager admin list\` names the administrators`)
        if (before.role === 'administrator' && locked.length === 1)
          throw conflict(
            `${before.externalUsername} (${id}) is the only administrator; grant the role to somebody else first`,
          )
        const after = await writeRole(tx, systemActor('manager admin revoke'), before, 'user')
        return { before, after }
      }),

    /** Administrators in the order of their ids, at most `limit`. */
    list: (limit: number): Promise<store.Administrator[]> =>
      store.listAdministrators(db.read, systemChain, limit),
  }
}

async function idByEmail(tx: Tx, email: string): Promise<string> {
  const found = await store.findUsersByEmail(tx, email)
  if (found.length > 1) throw badRequest(`several users have the e-mail ${email}; name the subject instead`)
  if (found[0] === undefined)
    throw badRequest(`no user with the e-mail ${email} has signed in yet; name the subject (a UUID) instead`)
  return found[0].id
}
