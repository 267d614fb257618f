import type { Actor } from '../../policy/actor.ts'
import { type RefWithRevision, checkRevision } from '../../policy/revisions.ts'
import { isStillAdministrator, lockProjectRole } from '../../policy/recheck.ts'
import { type ProjectRole, projectRoles } from '../../policy/roles.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { notFound, notPermitted, orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import { checkFields } from '../../platform/inputs/fields.ts'
import { checkOneOf } from '../../platform/inputs/inputs.ts'
import * as authority from './authority.store.ts'
import type { GrantToUser } from './directory-grants.service.ts'
import { createGroupRoleError, groupRolesService } from './group-roles.service.ts'
import { createMemberExistsError } from './member-exists.pure.ts'
import { findProjectGrantProblem } from './role-grants.pure.ts'
import * as store from './project-members.store.ts'
import { withdrawOfMember } from './withdrawn-invitations.service.ts'

export type ProjectMembersService = ReturnType<typeof createProjectMembersService>

export const projectMemberEvent = createEventBuilder<store.ProjectMember>({
  type: 'user2project',
  classes: {
    id: 'public',
    projectId: 'ignored',
    userId: 'public',
    role: 'public',
    groupRuleId: 'public',
  },
  nameOf: (member) => `${member.role} of user ${member.userId}`,
  projectOf: (member) => member.projectId,
})

type Change = {
  projectId: string
  userId: string
  before: store.ProjectMember | null
  newRole: ProjectRole | null
  isRemoval: boolean
}

/** Throws unless the caller's role before the change permits it. The caller must hold the member lock. */
async function assertGrant(tx: Tx, actor: Actor, change: Change): Promise<void> {
  const isAbove = await isStillAdministrator(tx, actor.user.id)
  const problem = findProjectGrantProblem({
    caller: isAbove ? 'above' : await lockProjectRole(tx, change.projectId, actor.user.id),
    isSelf: change.userId === actor.user.id,
    currentRole: (change.before?.role ?? null) as ProjectRole | null,
    isRoleOfGroup: (change.before?.groupRuleId ?? null) !== null,
    isRemoval: change.isRemoval,
    requestedRole: change.newRole,
    otherOwners: await store.countOtherOwners(tx, change.projectId, change.userId),
  })
  if (problem !== null) throw notPermitted(problem)
}

const checkRole = (role: string) => checkFields({ role: () => checkOneOf(role, 'role', projectRoles) }).role

type MembersDeps = { db: Db; audit: Audit; grantToUser: GrantToUser }

/** Returns a function that checks and applies a change to an existing membership. If `requested` is null, the membership is removed. */
const createChange =
  ({ db, audit }: MembersDeps) =>
  (
    actor: Actor,
    { id, expectedRevision }: RefWithRevision,
    newRole: ProjectRole | null,
  ): Promise<store.ProjectMember | null> =>
    db.transaction(async (tx) => {
      const { projectId } = orNotFound(await store.findProjectMember(tx, id), 'user2project')
      await authority.lockProjectMembers(tx, projectId)
      // The membership is read again under the lock, because a concurrent change may have committed first.
      const before = orNotFound(await store.findProjectMember(tx, id), 'user2project')
      const { userId } = before
      const object = { kind: 'project' as const, id: projectId }
      const isRemoval = newRole === null
      // After the removal of a direct role, the role of the person's groups applies: it must be one that the caller may give.
      const groupRole = isRemoval ? await groupRolesService.findRole(tx, userId, object) : null
      const change = { projectId, userId, before, isRemoval }
      await assertGrant(tx, actor, { ...change, newRole: newRole ?? (groupRole as ProjectRole | null) })
      await checkRevision(tx, actor, before, expectedRevision)
      if (isRemoval) {
        if (before.groupRuleId !== null) throw createGroupRoleError()
        await store.deleteProjectMember(tx, id)
        const revocation = projectMemberEvent('revoke', { before, after: null })
        const fromGroups = await groupRolesService.apply(tx, [userId], [object])
        await audit.append(tx, actor, revocation, ...fromGroups, ...(await withdrawOfMember(tx, before)))
        return null
      }
      const after = await store.setProjectRole(tx, id, newRole)
      await audit.append(
        tx,
        actor,
        ...(await groupRolesService.describe(tx, projectMemberEvent, { before, after })),
      )
      return after
    })

export function createProjectMembersService(deps: MembersDeps) {
  const { db, audit, grantToUser } = deps
  const change = createChange(deps)
  return {
    /** Makes the creator of a project its owner, in the transaction that creates the project. */
    addFirstOwner: async (tx: Tx, actor: Actor, projectId: string): Promise<void> => {
      const after = await store.insertProjectMember(tx, { projectId, userId: actor.user.id, role: 'owner' })
      if (after === undefined) throw createMemberExistsError('project')
      await audit.append(tx, actor, projectMemberEvent('grant', { before: null, after }))
    },

    list: (projectId: string, args: ListArgs): Promise<store.ProjectMember[]> =>
      store.listProjectMembers(db.read, projectId, readPage(store.projectMemberFields, args)),

    get: async (projectId: string, id: string): Promise<store.ProjectMember> => {
      const memberId = orNotFound(parseUuid(id), 'user2project')
      const member = orNotFound(await store.findProjectMember(db.read, memberId), 'user2project')
      if (member.projectId !== parseUuid(projectId)) throw notFound('user2project')
      return member
    },

    add: (actor: Actor, projectId: string, userID: string, role: string): Promise<store.ProjectMember> => {
      const newRole = checkRole(role)
      const userId = orNotFound(parseUuid(userID), 'user')
      return grantToUser(actor, userId, async (tx, addUser) => {
        await authority.lockProjectMembers(tx, projectId)
        // A direct role replaces that of a group, so it must not demote a member with a higher role.
        const before = (await store.findProjectMemberOfGroup(tx, projectId, userId)) ?? null
        await assertGrant(tx, actor, { projectId, userId, before, newRole, isRemoval: false })
        await addUser()
        const after = await store.insertProjectMember(tx, { projectId, userId, role: newRole })
        if (after === undefined) throw createMemberExistsError('project')
        await audit.append(
          tx,
          actor,
          ...(await groupRolesService.describe(tx, projectMemberEvent, { before, after })),
        )
        return after
      })
    },

    updateRole: async (actor: Actor, member: RefWithRevision, role: string): Promise<store.ProjectMember> =>
      orNotFound(await change(actor, member, checkRole(role)), 'user2project'),

    remove: async (actor: Actor, member: RefWithRevision): Promise<true> => {
      await change(actor, member, null)
      return true
    },
  }
}
