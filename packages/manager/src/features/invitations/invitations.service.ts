// Lists and revokes invitations.
import type { Actor } from '../../policy/actor.ts'
import { type RefWithRevision, checkRevision } from '../../policy/revisions.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { conflict, orNotFound } from '../../platform/errors.ts'
import { checkAt } from '../../platform/inputs/fields.ts'
import { checkOneOf } from '../../platform/inputs/inputs.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import type { MembershipsApi } from '../memberships/index.ts'
import { invitationEvent } from './invitation-event.pure.ts'
import { getState, getTarget, invitationStates } from './invitation-rules.pure.ts'
import * as store from './invitations.store.ts'

export type InvitationsDeps = {
  db: Db
  audit: Audit
  clock: Clock
  memberships: Pick<MembershipsApi, 'invited'>
}
export type InvitationsService = ReturnType<typeof createInvitationsService>

type Args = ListArgs & { state?: string | null }

export function createInvitationsService({ db, audit, clock, memberships }: InvitationsDeps) {
  const list = (
    column: store.Parent['column'],
    id: string,
    { state, ...args }: Args,
  ): Promise<store.Invitation[]> => {
    const page = readPage(store.invitationFields, args)
    const checkedState =
      state === undefined || state === null
        ? null
        : checkAt('state', () => checkOneOf(state, 'state', invitationStates))
    return store.listInvitations(db.read, { column, id }, checkedState, page)
  }

  return {
    listByProject: (id: string, args: Args) => list('projectId', id, args),
    listByTenant: (id: string, args: Args) => list('tenantId', id, args),
    listByApplication: (id: string, args: Args) => list('applicationId', id, args),

    getState: (invitation: store.Invitation): string => getState(invitation, clock.now()),

    /** Revokes an invitation. Only a person who may offer its role may withdraw the offer. */
    revoke: (actor: Actor, { id, expectedRevision }: RefWithRevision): Promise<store.Invitation> =>
      db.transaction(async (tx) => {
        const found = orNotFound(await store.findInvitation(tx, id), 'invitation')
        // A tenant role can be renamed or deleted until the memberships are locked.
        await memberships.invited.lock(tx, getTarget(found))
        const { isExpired, ...before } = orNotFound(await store.lockInvitation(tx, id), 'invitation')
        const offer = { ...getTarget(before), role: before.role }
        await memberships.invited.assertMayOffer(tx, actor.user.id, offer)
        await checkRevision(tx, actor, before, expectedRevision)
        if (before.acceptedAt !== null)
          throw conflict('the invitation was already accepted; remove the member instead')
        if (before.revokedAt !== null || isExpired) return before
        const after = await store.markRevoked(tx, id)
        await audit.append(tx, actor, invitationEvent('revoke', { before, after }))
        return after
      }),
  }
}
