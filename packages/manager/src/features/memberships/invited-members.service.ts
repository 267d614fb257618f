// Memberships that start with an invitation. The inviter grants the role, so the inviter's current roles decide, both
// when the role is offered and when it is granted.
import { isStillAdministrator, lockProjectRole } from '../../policy/recheck.ts'
import { applicationRoles, projectRoles } from '../../policy/roles.ts'
import type { AuditEvent } from '../../platform/audit/append.ts'
import type { Tx } from '../../platform/postgres/handles.ts'
import { badRequest, conflict, notPermitted, orNotFound } from '../../platform/errors.ts'
import { checkOneOf } from '../../platform/inputs/inputs.ts'
import { applicationMemberEvent, assertMaintainer } from './application-members.service.ts'
import * as applicationMembers from './application-members.store.ts'
import * as authority from './authority.store.ts'
import { createMemberExistsError } from './member-exists.pure.ts'
import { projectMemberEvent } from './project-members.service.ts'
import * as projectMembers from './project-members.store.ts'
import { findProjectGrantProblem, findTenantInviteProblem } from './role-grants.pure.ts'
import { findRoleInTenant, tenantMemberEvent } from './tenant-members.service.ts'
import * as tenantMembers from './tenant-members.store.ts'
import { withdrawByEmails } from './withdrawn-invitations.service.ts'

export type InvitedMembersService = ReturnType<typeof createInvitedMembersService>

/** A role in a project, a tenant or an application, which `id` identifies. */
export type OfferedRole = MembersOf & { role: string }
type MembersOf = { kind: 'project' | 'tenant' | 'application'; id: string }

/** The members of an object. The functions must run in one transaction, `assertMayOffer` or `lock` first. */
type Members = {
  /** Locks the memberships. */
  lock(tx: Tx, id: string): Promise<unknown>
  /** Locks the memberships and throws unless the inviter's current roles permit the grant. */
  assertMayOffer(tx: Tx, inviterId: string, offer: OfferedRole): Promise<void>
  isMember(tx: Tx, userId: string, id: string): Promise<boolean>
  insert(tx: Tx, userId: string, offer: OfferedRole & { projectId: string }): Promise<AuditEvent>
}

const ofProject: Members = {
  lock: authority.lockProjectMembers,
  assertMayOffer: async (tx, inviterId, { id, role }) => {
    const requestedRole = checkOneOf(role, 'role', projectRoles)
    await authority.lockProjectMembers(tx, id)
    const isAbove = await isStillAdministrator(tx, inviterId)
    const problem = findProjectGrantProblem({
      caller: isAbove ? 'above' : await lockProjectRole(tx, id, inviterId),
      isSelf: false,
      currentRole: null,
      isRoleOfGroup: false,
      isRemoval: false,
      requestedRole,
      // An additional member never removes the last owner.
      otherOwners: 1,
    })
    if (problem !== null) throw notPermitted(problem)
  },
  isMember: async (tx, userId, id) => (await lockProjectRole(tx, id, userId)) !== null,
  insert: async (tx, userId, { projectId, role }) => {
    const after = await projectMembers.insertProjectMember(tx, { projectId, userId, role })
    if (after === undefined) throw createMemberExistsError('project')
    return projectMemberEvent('grant', { before: null, after })
  },
}

const ofTenant: Members = {
  lock: authority.lockTenantMembers,
  assertMayOffer: async (tx, inviterId, { id, role }) => {
    const projectId = orNotFound(await authority.lockTenantMembers(tx, id), 'tenant')
    const offeredRole = await authority.findTenantRoleByName(tx, id, role)
    if (offeredRole === null)
      throw badRequest(`roleName ${role} is not a role definition of this tenant`, 'input.roleName')
    const problem = findTenantInviteProblem(await findRoleInTenant(tx, inviterId, projectId, id), offeredRole)
    if (problem !== null) throw notPermitted(problem)
  },
  isMember: async (tx, userId, id) => (await authority.findTenantRoleOfUser(tx, id, userId)) !== null,
  insert: async (tx, userId, { projectId, id: tenantId, role: roleName }) => {
    const after = await tenantMembers.insertTenantMember(tx, { projectId, tenantId, userId, roleName })
    if (after === undefined) throw createMemberExistsError('tenant')
    return tenantMemberEvent('grant', { before: null, after })
  },
}

const ofApplication: Members = {
  lock: authority.lockApplicationMembers,
  assertMayOffer: async (tx, inviterId, { id, role }) => {
    checkOneOf(role, 'role', applicationRoles)
    const projectId = orNotFound(await authority.lockApplicationMembers(tx, id), 'application')
    await assertMaintainer(tx, inviterId, projectId)
  },
  isMember: (tx, userId, id) => applicationMembers.isApplicationMember(tx, id, userId),
  insert: async (tx, userId, { projectId, id: applicationId, role }) => {
    const values = { projectId, applicationId, userId, role }
    const after = await applicationMembers.insertApplicationMember(tx, values)
    if (after === undefined) throw createMemberExistsError('application')
    return applicationMemberEvent('grant', { before: null, after })
  },
}

const membersByKind = { project: ofProject, tenant: ofTenant, application: ofApplication }

export function createInvitedMembersService() {
  return {
    /** Locks the memberships of the object, and so every new and accepted invitation to it. */
    lock: async (tx: Tx, { kind, id }: MembersOf): Promise<void> => {
      await membersByKind[kind].lock(tx, id)
    },

    /** Returns whether the user is a member of the object. */
    isMember: (tx: Tx, userId: string, { kind, id }: MembersOf): Promise<boolean> =>
      membersByKind[kind].isMember(tx, userId, id),

    /** Revokes open invitations to one object. Returns the events for the audit trail. Call `lock` first. */
    withdraw: withdrawByEmails,

    /** Locks the memberships of the object and throws unless the inviter's current roles permit the grant. */
    assertMayOffer: (tx: Tx, inviterId: string, offer: OfferedRole): Promise<void> =>
      membersByKind[offer.kind].assertMayOffer(tx, inviterId, offer),

    /**
     * Adds the user with the offered role, and returns the event for the audit trail. Call `assertMayOffer` first: it
     * locks the memberships.
     */
    join: async (tx: Tx, userId: string, offer: OfferedRole & { projectId: string }): Promise<AuditEvent> => {
      const members = membersByKind[offer.kind]
      if (await members.isMember(tx, userId, offer.id))
        throw conflict(
          `you are already a member of this ${offer.kind}; ask a maintainer if you need another role`,
        )
      return members.insert(tx, userId, offer)
    },
  }
}
