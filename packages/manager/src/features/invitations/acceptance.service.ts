// The invited person sees an invitation and accepts it. A link that the caller cannot use gets the same response in
// every case, so that it does not show whether the invitation exists or existed.
import type { Actor } from '../../policy/actor.ts'
import { recheckCredential } from '../../policy/recheck.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { Db, Reads, Tx } from '../../platform/postgres/handles.ts'
import { AppError, conflict, notFound, orNotFound } from '../../platform/errors.ts'
import type { MembershipsApi } from '../memberships/index.ts'
import { invitationEvent } from './invitation-event.pure.ts'
import { getTarget, isSameEmail } from './invitation-rules.pure.ts'
import { parseTokenHash } from './invitation-token.pure.ts'
import * as store from './invitations.store.ts'

export type AcceptanceDeps = { db: Db; audit: Audit; memberships: Pick<MembershipsApi, 'invited'> }
export type AcceptanceService = ReturnType<typeof createAcceptanceService>

const noun = 'invitation'

export function createAcceptanceService(deps: AcceptanceDeps) {
  const { db } = deps
  return {
    /** Returns the data of an open invitation for the person whom it invites. */
    preview: async (actor: Actor, token: string) => {
      const tokenHash = orNotFound(parseTokenHash(token), noun)
      const invitation = orNotFound(await store.findByTokenHash(db.read, tokenHash), noun)
      if (!isOpenFor(actor, invitation)) throw notFound(noun)
      return describe(db.read, invitation)
    },

    /** Makes the caller a member. If the caller is already one because of this invitation, changes nothing. */
    accept: (actor: Actor, token: string) => {
      const tokenHash = orNotFound(parseTokenHash(token), noun)
      return db.transaction(async (tx) => {
        await recheckCredential(tx, actor)
        const found = orNotFound(await store.findByTokenHash(tx, tokenHash), noun)
        if (found.acceptorId !== actor.user.id && !isOpenFor(actor, found)) throw notFound(noun)
        // The memberships are locked before the invitation, like in every other change to them. A tenant role can be
        // renamed or deleted until then.
        await deps.memberships.invited.lock(tx, getTarget(found))
        const { isExpired, ...before } = orNotFound(await store.lockInvitation(tx, found.id), noun)
        if (await isRepetition(deps, tx, actor, before)) return describe(tx, before)
        if (!isOpenFor(actor, { ...before, isExpired })) throw notFound(noun)
        await assertInviterMayGrant(deps, tx, before)
        return join(deps, tx, actor, before)
      })
    },
  }
}

/** Whether the caller has accepted the invitation, and is still a member. */
const isRepetition = async (
  { memberships }: AcceptanceDeps,
  tx: Tx,
  { user }: Actor,
  invitation: store.Invitation,
): Promise<boolean> =>
  invitation.acceptorId === user.id &&
  (await memberships.invited.isMember(tx, user.id, getTarget(invitation)))

/** Judges the inviter by their current roles, which may have changed since the invitation. */
async function assertInviterMayGrant(
  { memberships }: AcceptanceDeps,
  tx: Tx,
  invitation: store.Invitation,
): Promise<void> {
  const { inviterId, role } = invitation
  try {
    await memberships.invited.assertMayOffer(tx, inviterId, { ...getTarget(invitation), role })
  } catch (error) {
    if (!(error instanceof AppError) || !error.isNotPermitted) throw error
    throw conflict('the person who invited you may no longer grant this role; ask for a new invitation')
  }
}

/** Adds the member and ends the invitation. The caller must hold the locks. */
async function join({ audit, memberships }: AcceptanceDeps, tx: Tx, actor: Actor, before: store.Invitation) {
  const { id, inviterId, projectId, role, email } = before
  const offer = { ...getTarget(before), role, projectId }
  const grantEvent = await memberships.invited.join(tx, actor.user.id, offer)
  const after = await store.markAccepted(tx, id, actor.user.id)
  // Other links of the person must not restore the membership after it is removed.
  const withdrawals = await memberships.invited.withdraw(tx, before, [email, actor.user.externalEmail])
  const metadata = { invitation_id: id, inviter_id: inviterId }
  const response = await describe(tx, after)
  await audit.append(
    tx,
    actor,
    { ...invitationEvent('accept', { before, after }), metadata },
    { ...grantEvent, metadata },
    ...withdrawals,
  )
  return response
}

/** Returns the offer with the names that the invited person sees. */
async function describe(reads: Reads, invitation: store.Invitation) {
  const { kind } = getTarget(invitation)
  const names = orNotFound(await store.findNames(reads, invitation.id), noun)
  return { kind, role: invitation.role, expiresAt: invitation.expiresAt, ...names }
}

/** Whether the caller could accept the invitation now. */
function isOpenFor({ user }: Actor, invitation: store.DatedInvitation): boolean {
  if (invitation.acceptedAt !== null || invitation.revokedAt !== null || invitation.isExpired) return false
  return !invitation.requireSameEmail || isSameEmail(user.externalEmail, invitation.email)
}
