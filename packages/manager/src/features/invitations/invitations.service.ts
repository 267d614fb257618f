// Creates, lists and revokes invitations. Memberships decide which roles a person may offer.
import { randomBytes } from 'node:crypto'
import type { Actor } from '../../policy/actor.ts'
import { type RefWithRevision, checkRevision } from '../../policy/revisions.ts'
import { recheckCredential } from '../../policy/recheck.ts'
import { applicationRoles, projectRoles } from '../../policy/roles.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { badRequest, conflict, orNotFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { checkAt, checkInput } from '../../platform/inputs/fields.ts'
import { checkName, checkOneOf, checkText } from '../../platform/inputs/inputs.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import type { MembershipsApi } from '../memberships/index.ts'
import type { Delivery, InvitationWebhook } from './invitation-webhook.service.ts'
import { invitationEvent as event } from './invitation-event.pure.ts'
import { getState, getTarget, invitationStates, isEmail } from './invitation-rules.pure.ts'
import { buildInvitationToken, tokenBytes } from './invitation-token.pure.ts'
import * as store from './invitations.store.ts'

export type InvitationsDeps = {
  db: Db
  audit: Audit
  clock: Clock
  memberships: Pick<MembershipsApi, 'invited'>
  webhook: InvitationWebhook
  /** The public base URL of the console, without a trailing slash. */
  publicUrl: string
  limits: { defaultDays: number; maxDays: number; maxOpen: number }
}
export type InvitationsService = ReturnType<typeof createInvitationsService>

type Input = {
  email: string
  expiresInDays?: number | null
  requireSameEmail?: boolean | null
}
type Target = { kind: 'project' | 'tenant' | 'application'; id: string }
type CheckedInput = { email: string; expiresInDays: number; role: string }
export type CreatedInvitation = { invitation: store.Invitation; link: string; delivery: Delivery }

const maxEmailLength = 320

export function createInvitationsService(deps: InvitationsDeps) {
  const { db, audit, clock, memberships, webhook, publicUrl, limits } = deps

  const checkDays = (days: number): number => {
    if (days < 1 || days > limits.maxDays)
      throw badRequest(`expiresInDays must be from 1 to ${limits.maxDays}`)
    return days
  }
  const createChecks = (input: Input) => ({
    email: () => checkEmail(input.email),
    expiresInDays: () => checkDays(input.expiresInDays ?? limits.defaultDays),
  })

  const insert = async (
    tx: Tx,
    actor: Actor,
    { kind, id }: Target,
    values: Pick<store.NewInvitation, 'email' | 'role' | 'requireSameEmail' | 'tokenHash' | 'days'>,
  ): Promise<store.Invitation> => {
    // The link outlives the request.
    await recheckCredential(tx, actor)
    const projectId = await findProjectId(tx, { kind, id })
    // The project is locked before the tenant or the application, like in the deletion of a project.
    await store.lockProject(tx, projectId)
    await memberships.invited.assertMayOffer(tx, actor.user.id, { kind, id, role: values.role })
    if (await store.hasOpenInvitations(tx, projectId, limits.maxOpen))
      throw conflict(
        `a project can have at most ${limits.maxOpen} open invitations; revoke one, or ask the operator to raise invitations.max_open_per_project`,
      )
    return store.insertInvitation(tx, {
      id: newId(),
      projectId,
      tenantId: kind === 'tenant' ? id : null,
      applicationId: kind === 'application' ? id : null,
      inviterId: actor.user.id,
      ...values,
    })
  }

  const invite = async (
    actor: Actor,
    target: Target,
    { email, role, expiresInDays, requireSameEmail }: CheckedInput & Pick<Input, 'requireSameEmail'>,
  ): Promise<CreatedInvitation> => {
    const { token, tokenHash } = buildInvitationToken(randomBytes(tokenBytes))
    const values = {
      email,
      role,
      days: expiresInDays,
      requireSameEmail: requireSameEmail ?? true,
      tokenHash,
    }
    const invitation = await db.transaction(async (tx) => {
      const after = await insert(tx, actor, target, values)
      await audit.append(tx, actor, event('create', { before: null, after }))
      return after
    })
    // The fragment of a URL is not sent to servers, so the token does not appear in their logs.
    const link = `${publicUrl}/console/invitations#${token}`
    return { invitation, link, delivery: await webhook.announce(invitation, link) }
  }

  const list = (
    column: store.Parent['column'],
    id: string,
    { state, ...args }: ListArgs & { state?: string | null },
  ): Promise<store.Invitation[]> => {
    const page = readPage(store.invitationFields, args)
    const checkedState =
      (state ?? null) === null
        ? null
        : checkAt('state', () => checkOneOf(state as string, 'state', invitationStates))
    return store.listInvitations(db.read, { column, id }, checkedState, page)
  }

  return {
    listByProject: (id: string, args: ListArgs) => list('projectId', id, args),
    listByTenant: (id: string, args: ListArgs) => list('tenantId', id, args),
    listByApplication: (id: string, args: ListArgs) => list('applicationId', id, args),

    getState: (invitation: store.Invitation): string => getState(invitation, clock.now()),

    inviteToProject: (actor: Actor, id: string, input: Input & { role: string }) => {
      const role = (): string => checkOneOf(input.role, 'role', projectRoles)
      const checked = checkInput({ ...createChecks(input), role })
      return invite(actor, { kind: 'project', id }, { ...input, ...checked })
    },

    inviteToTenant: (actor: Actor, id: string, { roleName, ...input }: Input & { roleName: string }) => {
      const checks = { ...createChecks(input), roleName: () => checkName(roleName, 'roleName') }
      const { roleName: role, ...checked } = checkInput(checks)
      return invite(actor, { kind: 'tenant', id }, { ...input, ...checked, role })
    },

    inviteToApplication: (actor: Actor, id: string, input: Input & { role: string }) => {
      const role = (): string => checkOneOf(input.role, 'role', applicationRoles)
      const checked = checkInput({ ...createChecks(input), role })
      return invite(actor, { kind: 'application', id }, { ...input, ...checked })
    },

    /** Revokes an invitation. Only a person who may offer its role may withdraw the offer. */
    revoke: (actor: Actor, { id, expectedRevision }: RefWithRevision): Promise<store.Invitation> =>
      db.transaction(async (tx) => {
        const found = orNotFound(await store.findInvitation(tx, id), 'invitation')
        const offer = { ...getTarget(found), role: found.role }
        await memberships.invited.assertMayOffer(tx, actor.user.id, offer)
        const { isExpired, ...before } = orNotFound(await store.lockInvitation(tx, id), 'invitation')
        await checkRevision(tx, actor, before, expectedRevision)
        if (before.acceptedAt !== null)
          throw conflict('the invitation was already accepted; remove the member instead')
        if (before.revokedAt !== null || isExpired) return before
        const after = await store.markRevoked(tx, id)
        await audit.append(tx, actor, event('revoke', { before, after }))
        return after
      }),
  }
}

async function findProjectId(tx: Tx, { kind, id }: Target): Promise<string> {
  if (kind === 'project') return id
  return orNotFound(await store.findProjectId(tx, kind === 'tenant' ? 'tenants' : 'applications', id), kind)
}

function checkEmail(value: string): string {
  const email = checkText(value.trim(), 'email', maxEmailLength)
  if (!isEmail(email)) throw badRequest('email must be an e-mail address such as ann@example.com')
  return email
}
