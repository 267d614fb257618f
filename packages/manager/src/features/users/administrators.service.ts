// Operators appoint administrators through the CLI or in development, without being administrators themselves.
import type { Actor } from '../../policy/actor.ts'
import { type Audit, type AuditActor, createSystemActor } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import { systemChain } from '../../platform/audit/entry.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { badRequest, conflict, notPermitted } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { isActive } from './lifecycle.pure.ts'
import * as store from './users.store.ts'

export type AdministratorsService = ReturnType<typeof createAdministratorsService>

export const userEvent = createEventBuilder<store.User>({
  type: 'user',
  classes: {
    id: 'public',
    externalName: 'public',
    externalUsername: 'public',
    externalEmail: 'sensitive',
    role: 'public',
    isProvisioned: 'public',
    deactivatedByScimAt: 'public',
    deactivatedByAdministratorAt: 'public',
  },
  nameOf: (user) => user.externalUsername,
  projectOf: () => null,
})

/**
 * Throws unless the caller is among these locked users and still an active administrator. The guard checked the role before
 * the lock, and a caller who has just lost it must not use it.
 */
export function assertStillAdministrator(lockedUsers: readonly store.User[], actor: Actor): void {
  const caller = lockedUsers.find(({ id }) => id === actor.user.id)
  if (caller?.role !== 'administrator' || !isActive(caller))
    throw notPermitted('this change requires system role administrator')
}

/** Returns a function that sets the system role of a locked user and audits the change. */
export function createRoleWriter(audit: Audit) {
  return async (tx: Tx, actor: AuditActor, before: store.User, role: string): Promise<store.User> => {
    if (before.role === role) return before
    const after = await store.setSystemRole(tx, before.id, role)
    await audit.append(tx, actor, userEvent('update', { before, after }))
    return after
  }
}

/** Grants and revokes the administrator role. Each change and its audit row are one transaction. */
export function createAdministratorsService({ db, audit }: { db: Db; audit: Audit }) {
  const writeRole = createRoleWriter(audit)
  return {
    /** Makes the user with this subject or e-mail an administrator. An unknown subject is provisioned. */
    grant: (subjectOrEmail: string): Promise<store.User> =>
      db.transaction(async (tx) => {
        const id = parseUuid(subjectOrEmail) ?? (await findIdByEmail(tx, subjectOrEmail))
        const [existingUser] = await store.lockUsers(tx, [id])
        const before =
          existingUser ?? (await store.upsertUser(tx, { id, email: null, name: null, username: id }))
        return writeRole(tx, createSystemActor('manager admin grant'), before, 'administrator')
      }),

    /** Revokes the role from this user. Throws a conflict if the user is the only administrator. */
    revoke: (subjectOrEmail: string): Promise<{ before: store.User; after: store.User }> =>
      db.transaction(async (tx) => {
        const id = parseUuid(subjectOrEmail) ?? (await findIdByEmail(tx, subjectOrEmail))
        // Locks all administrators, so that two concurrent commands cannot revoke the last two.
        const lockedUsers = await store.lockUserAndAdministrators(tx, id)
        const before = lockedUsers.find((user) => user.id === id)
        if (before === undefined)
          throw badRequest(
            `no user has the subject ${id}; run \`manager admin list\` to list the administrators`,
          )
        // A deactivated administrator cannot act, so another one must be active.
        const isOther = (user: store.User): boolean => user.id !== id && isActive(user)
        if (before.role === 'administrator' && !lockedUsers.some(isOther))
          throw conflict(
            `${before.externalUsername} (${id}) is the only administrator; grant the role to another user first`,
          )
        const after = await writeRole(tx, createSystemActor('manager admin revoke'), before, 'user')
        return { before, after }
      }),

    /** Returns at most `limit` administrators, ordered by id. */
    list: (limit: number): Promise<store.Administrator[]> =>
      store.listAdministrators(db.read, systemChain, limit),
  }
}

async function findIdByEmail(tx: Tx, email: string): Promise<string> {
  const users = await store.findUsersByEmail(tx, email)
  if (users.length > 1) throw badRequest(`several users have the e-mail ${email}; pass the subject instead`)
  if (users[0] === undefined)
    throw badRequest(`no user with the e-mail ${email} has signed in yet; pass the subject (a UUID) instead`)
  return users[0].id
}
