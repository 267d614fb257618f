// Creates invitations. Memberships decide which roles a person may offer.
import { randomBytes } from 'node:crypto'
import type { Actor } from '../../policy/actor.ts'
import { recheckCredential } from '../../policy/recheck.ts'
import { applicationRoles, projectRoles } from '../../policy/roles.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { badRequest, conflict, orNotFound, rateLimited } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { checkInput } from '../../platform/inputs/fields.ts'
import { checkName, checkOneOf, checkText } from '../../platform/inputs/inputs.ts'
import type { MembershipsApi } from '../memberships/index.ts'
import type { Delivery, InvitationWebhook } from './invitation-webhook.service.ts'
import { invitationEvent } from './invitation-event.pure.ts'
import { isEmail } from './invitation-rules.pure.ts'
import { buildInvitationToken, tokenBytes } from './invitation-token.pure.ts'
import * as store from './invitations.store.ts'

export type InvitingDeps = {
  db: Db
  audit: Audit
  memberships: Pick<MembershipsApi, 'invited'>
  webhook: InvitationWebhook
  /** The public base URL of the console, without a trailing slash. */
  publicUrl: string
  limits: { defaultDays: number; maxDays: number; maxOpen: number; maxPerHour: number }
}
export type InvitingService = ReturnType<typeof createInvitingService>

type Input = {
  email: string
  expiresInDays?: number | null
  requireSameEmail?: boolean | null
}
type Target = { kind: 'project' | 'tenant' | 'application'; id: string }
type CheckedInput = { email: string; expiresInDays: number; role: string }
export type CreatedInvitation = { invitation: store.Invitation; link: string; delivery: Delivery }

const maxEmailLength = 320
// One person can have a fifth of the open invitations of a project.
const invitersPerProject = 5

export function createInvitingService(deps: InvitingDeps) {
  const { limits } = deps
  return {
    inviteToProject: (actor: Actor, id: string, input: Input & { role: string }) => {
      const role = (): string => checkOneOf(input.role, 'role', projectRoles)
      const checked = checkInput({ ...createChecks(input, limits), role })
      return invite(deps, actor, { kind: 'project', id }, { ...input, ...checked })
    },

    inviteToTenant: (actor: Actor, id: string, { roleName, ...input }: Input & { roleName: string }) => {
      const checks = { ...createChecks(input, limits), roleName: () => checkName(roleName, 'roleName') }
      const { roleName: role, ...checked } = checkInput(checks)
      return invite(deps, actor, { kind: 'tenant', id }, { ...input, ...checked, role })
    },

    inviteToApplication: (actor: Actor, id: string, input: Input & { role: string }) => {
      const role = (): string => checkOneOf(input.role, 'role', applicationRoles)
      const checked = checkInput({ ...createChecks(input, limits), role })
      return invite(deps, actor, { kind: 'application', id }, { ...input, ...checked })
    },
  }
}

const createChecks = (input: Input, { defaultDays, maxDays }: InvitingDeps['limits']) => ({
  email: () => checkEmail(input.email),
  expiresInDays: () => {
    const days = input.expiresInDays ?? defaultDays
    if (days < 1 || days > maxDays) throw badRequest(`expiresInDays must be from 1 to ${maxDays}`)
    return days
  },
})

function checkEmail(value: string): string {
  const email = checkText(value.trim(), 'email', maxEmailLength)
  if (!isEmail(email)) throw badRequest('email must be an e-mail address such as ann@example.com')
  return email
}

/** Creates an invitation. The link is only in the result and in the message to the webhook. */
async function invite(
  deps: InvitingDeps,
  actor: Actor,
  target: Target,
  { email, role, expiresInDays: days, requireSameEmail }: CheckedInput & Pick<Input, 'requireSameEmail'>,
): Promise<CreatedInvitation> {
  const { token, tokenHash } = buildInvitationToken(randomBytes(tokenBytes))
  const invitation = await deps.db.transaction(async (tx) => {
    // The link outlives the request.
    await recheckCredential(tx, actor)
    const projectId = await assertMayInvite(deps, tx, actor, { ...target, role })
    const after = await store.insertInvitation(tx, {
      id: newId(),
      projectId,
      tenantId: target.kind === 'tenant' ? target.id : null,
      applicationId: target.kind === 'application' ? target.id : null,
      email,
      role,
      days,
      requireSameEmail: requireSameEmail ?? true,
      tokenHash,
      inviterId: actor.user.id,
    })
    await deps.audit.append(tx, actor, invitationEvent('create', { before: null, after }))
    return after
  })
  // The fragment of a URL is not sent to servers, so the token does not appear in their logs.
  const link = `${deps.publicUrl}/console/invitations#${token}`
  return { invitation, link, delivery: await deps.webhook.announce(invitation, link) }
}

/** Throws unless the caller may offer the role and create another invitation. Returns the project. */
async function assertMayInvite(
  { memberships, limits }: InvitingDeps,
  tx: Tx,
  { user }: Actor,
  offer: Target & { role: string },
): Promise<string> {
  const projectId = await findProjectId(tx, offer)
  // The project is locked before the tenant or the application, like in the deletion of a project.
  await store.lockProject(tx, projectId)
  await memberships.invited.assertMayOffer(tx, user.id, offer)
  await assertWithinLimits(limits, tx, { projectId, inviterId: user.id })
  return projectId
}

/**
 * One inviter can neither use up the invitations of a project nor send many messages. Concurrent calls in several
 * projects can exceed the limit per hour by a few invitations.
 */
async function assertWithinLimits(
  { maxOpen, maxPerHour }: InvitingDeps['limits'],
  tx: Tx,
  { projectId, inviterId }: { projectId: string; inviterId: string },
): Promise<void> {
  const waitMs = await store.getInviterWaitMs(tx, inviterId, maxPerHour)
  if (waitMs > 0)
    throw rateLimited(`you can create at most ${maxPerHour} invitations in an hour; try again later`, waitMs)
  const { total, ofInviter } = await store.countOpen(tx, { projectId, inviterId, limit: maxOpen })
  if (total >= maxOpen)
    throw conflict(
      `a project can have at most ${maxOpen} open invitations; revoke one, or ask the operator to raise invitations.max_open_per_project`,
    )
  const maxOfInviter = Math.ceil(maxOpen / invitersPerProject)
  if (ofInviter >= maxOfInviter)
    throw conflict(
      `you can have at most ${maxOfInviter} open invitations in a project; revoke one, or ask another person to invite`,
    )
}

async function findProjectId(tx: Tx, { kind, id }: Target): Promise<string> {
  if (kind === 'project') return id
  return orNotFound(await store.findProjectId(tx, kind === 'tenant' ? 'tenants' : 'applications', id), kind)
}
