// Deactivates and reactivates people. An administrator and an identity provider do so independently: a person is active only
// while neither has deactivated them. Every request reads the columns, so a deactivation applies to all processes.
import type { Actor } from '../../policy/actor.ts'
import { type RefWithRevision, checkRevision } from '../../policy/revisions.ts'
import type { Audit, AuditEvent } from '../../platform/audit/append.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { conflict, orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { assertStillAdministrator, userEvent } from './administrators.service.ts'
import * as lifecycle from './lifecycle.store.ts'
import * as store from './users.store.ts'

export type ActivationService = ReturnType<typeof createActivationService>

/** Lets an administrator deactivate a person, and lift this deactivation. */
export function createActivationService({ db, audit }: { db: Db; audit: Audit }) {
  const setActive = (
    actor: Actor,
    { id, expectedRevision }: RefWithRevision,
    isActive: boolean,
  ): Promise<store.User> =>
    db.transaction(async (tx) => {
      const userId = parseUuid(id)
      const lockedUsers = await store.lockUsers(tx, [actor.user.id, ...(userId === null ? [] : [userId])])
      assertStillAdministrator(lockedUsers, actor)
      const before = orNotFound(
        lockedUsers.find(({ id: lockedId }) => lockedId === userId),
        'user',
      )
      // At least one administrator can still sign in.
      if (!isActive && before.id === actor.user.id)
        throw conflict('you cannot deactivate yourself; ask another administrator')
      await checkRevision(tx, actor, before, expectedRevision)
      const { user, event } = await setActivation(tx, before, 'deactivatedByAdministratorAt', isActive)
      // Without the SCIM user, the identity provider could not lift its own deactivation.
      const lifted =
        isActive && !before.isProvisioned ? await setActivation(tx, user, 'deactivatedByScimAt', true) : null
      const events = [event, lifted?.event ?? null].filter((one) => one !== null)
      if (events.length > 0) await audit.append(tx, actor, ...events)
      return lifted?.user ?? user
    })
  return {
    deactivate: (actor: Actor, user: RefWithRevision): Promise<store.User> => setActive(actor, user, false),
    /** Lifts the deactivation by an administrator; that of an identity provider stays while it manages the person. */
    reactivate: (actor: Actor, user: RefWithRevision): Promise<store.User> => setActive(actor, user, true),
  }
}

/** Changes one of the two deactivations of a locked user. Returns the audit event, or null if nothing changes. */
async function setActivation(
  tx: Tx,
  before: store.User,
  deactivator: lifecycle.Deactivator,
  isActive: boolean,
): Promise<{ user: store.User; event: AuditEvent | null }> {
  if ((before[deactivator] === null) === isActive) return { user: before, event: null }
  const after = await lifecycle.setDeactivation(tx, before.id, deactivator, !isActive)
  return { user: after, event: userEvent(isActive ? 'reactivate' : 'deactivate', { before, after }) }
}

export type ProvisionedUsersService = ReturnType<typeof createProvisionedUsersService>

/** Creates and changes people on behalf of an identity provider, in the transaction of the caller. */
export const createProvisionedUsersService = () => ({
  /** Returns a person, or null, and locks the row until the transaction ends. */
  lock: async (tx: Tx, id: string): Promise<store.User | null> =>
    (await store.lockUsers(tx, [id]))[0] ?? null,
  save: lifecycle.saveProvisionedUser,
  release: lifecycle.releaseProvisionedUser,
  /** Sets whether the identity provider permits the person. Never lifts a deactivation by an administrator. */
  setActive: (tx: Tx, before: store.User, isActive: boolean) =>
    setActivation(tx, before, 'deactivatedByScimAt', isActive),
  /** Records a deactivation that was requested and rejected. */
  createRejection: (user: store.User): AuditEvent => ({
    ...userEvent('deny', { before: user, after: user }),
    description: `deactivation of user ${user.externalUsername} rejected: it is based on an outdated version`,
  }),
})
