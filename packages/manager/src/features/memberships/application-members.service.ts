import type { Actor } from '../../policy/actor.ts'
import { type RefWithRevision, checkRevision } from '../../policy/revisions.ts'
import { isStillAdministrator, lockProjectRole } from '../../policy/recheck.ts'
import { applicationRoles, getProjectRank } from '../../policy/roles.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { notFound, notPermitted, orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import { checkFields } from '../../platform/inputs/fields.ts'
import { checkOneOf } from '../../platform/inputs/inputs.ts'
import * as store from './application-members.store.ts'
import { withdrawOfMember } from './withdrawn-invitations.service.ts'
import { createGroupRoleError, groupRolesService } from './group-roles.service.ts'
import { createMemberExistsError } from './member-exists.pure.ts'
import * as authority from './authority.store.ts'
import type { GrantToUser } from './directory-grants.service.ts'

export type ApplicationMembersService = ReturnType<typeof createApplicationMembersService>

export const applicationMemberEvent = createEventBuilder<store.ApplicationMember>({
  type: 'user2application',
  classes: {
    id: 'public',
    projectId: 'ignored',
    applicationId: 'public',
    userId: 'public',
    role: 'public',
    groupRuleId: 'public',
  },
  nameOf: (member) => `${member.role} of user ${member.userId}`,
  projectOf: (member) => member.projectId,
})

/**
 * Throws unless the user has the role `maintainer` or higher. The user's role in the application is
 * irrelevant, because every role that may grant application roles is above it.
 */
export async function assertMaintainer(tx: Tx, userId: string, projectId: string): Promise<void> {
  if (await isStillAdministrator(tx, userId)) return
  const role = await lockProjectRole(tx, projectId, userId)
  if (getProjectRank(role) < getProjectRank('maintainer'))
    throw notPermitted('managing memberships requires project role maintainer or higher')
}

const checkRole = (role: string) =>
  checkFields({ role: () => checkOneOf(role, 'role', applicationRoles) }).role

type MembersDeps = { db: Db; audit: Audit; grantToUser: GrantToUser }

/** Returns a function that removes a member. */
const createRemove =
  ({ db, audit }: Pick<MembersDeps, 'db' | 'audit'>) =>
  (actor: Actor, { id, expectedRevision }: RefWithRevision): Promise<true> =>
    db.transaction(async (tx) => {
      const { applicationId } = orNotFound(await store.findApplicationMember(tx, id), 'user2application')
      await authority.lockApplicationMembers(tx, applicationId)
      const before = orNotFound(await store.lockApplicationMember(tx, id), 'user2application')
      await assertMaintainer(tx, actor.user.id, before.projectId)
      await checkRevision(tx, actor, before, expectedRevision)
      if (before.groupRuleId !== null) throw createGroupRoleError()
      await store.deleteApplicationMember(tx, id)
      const revocation = applicationMemberEvent('revoke', { before, after: null })
      const object = { kind: 'application' as const, id: applicationId }
      const fromGroups = await groupRolesService.apply(tx, [before.userId], [object])
      await audit.append(tx, actor, revocation, ...fromGroups, ...(await withdrawOfMember(tx, before)))
      return true as const
    })

export function createApplicationMembersService({ db, audit, grantToUser }: MembersDeps) {
  return {
    list: (applicationId: string, args: ListArgs): Promise<store.ApplicationMember[]> =>
      store.listApplicationMembers(db.read, applicationId, readPage(store.applicationMemberFields, args)),

    get: async (applicationId: string, id: string): Promise<store.ApplicationMember> => {
      const memberId = orNotFound(parseUuid(id), 'user2application')
      const member = orNotFound(await store.findApplicationMember(db.read, memberId), 'user2application')
      if (member.applicationId !== parseUuid(applicationId)) throw notFound('user2application')
      return member
    },

    add: (
      actor: Actor,
      applicationId: string,
      userID: string,
      role: string,
    ): Promise<store.ApplicationMember> => {
      const grantedRole = checkRole(role)
      const userId = orNotFound(parseUuid(userID), 'user')
      return grantToUser(actor, userId, async (tx, addUser) => {
        const projectId = orNotFound(await authority.lockApplicationMembers(tx, applicationId), 'application')
        await assertMaintainer(tx, actor.user.id, projectId)
        await addUser()
        const values = { projectId, applicationId, userId, role: grantedRole }
        const before = (await store.findApplicationMemberOfGroup(tx, applicationId, userId)) ?? null
        const after = await store.insertApplicationMember(tx, values)
        if (after === undefined) throw createMemberExistsError('application')
        const events = await groupRolesService.describe(tx, applicationMemberEvent, { before, after })
        await audit.append(tx, actor, ...events)
        return after
      })
    },

    updateRole: (
      actor: Actor,
      { id, expectedRevision }: RefWithRevision,
      role: string,
    ): Promise<store.ApplicationMember> => {
      const grantedRole = checkRole(role)
      return db.transaction(async (tx) => {
        const { applicationId } = orNotFound(await store.findApplicationMember(tx, id), 'user2application')
        await authority.lockApplicationMembers(tx, applicationId)
        const before = orNotFound(await store.lockApplicationMember(tx, id), 'user2application')
        await assertMaintainer(tx, actor.user.id, before.projectId)
        await checkRevision(tx, actor, before, expectedRevision)
        const after = await store.setApplicationRole(tx, id, grantedRole)
        const events = await groupRolesService.describe(tx, applicationMemberEvent, { before, after })
        await audit.append(tx, actor, ...events)
        return after
      })
    },

    remove: createRemove({ db, audit }),
  }
}
