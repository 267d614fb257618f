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
import { findProjectGrantProblem } from './role-grants.pure.ts'
import * as store from './project-members.store.ts'
import { withdrawOfMember } from './withdrawn-invitations.service.ts'

export type ProjectMembersService = ReturnType<typeof createProjectMembersService>

export const projectMemberEvent = createEventBuilder<store.ProjectMember>({
  type: 'user2project',
  classes: { id: 'public', projectId: 'ignored', userId: 'public', role: 'public' },
  nameOf: (member) => `${member.role} of user ${member.userId}`,
  projectOf: (member) => member.projectId,
})

type Change = {
  projectId: string
  userId: string
  existingRole: ProjectRole | null
  newRole: ProjectRole | null
}

/** Throws unless the caller's role before the change permits it. The caller must hold the member lock. */
async function assertGrant(tx: Tx, actor: Actor, change: Change): Promise<void> {
  const isAbove = await isStillAdministrator(tx, actor.user.id)
  const problem = findProjectGrantProblem({
    caller: isAbove ? 'above' : await lockProjectRole(tx, change.projectId, actor.user.id),
    isSelf: change.userId === actor.user.id,
    currentRole: change.existingRole,
    requestedRole: change.newRole,
    owners: await store.countOwners(tx, change.projectId),
  })
  if (problem !== null) throw notPermitted(problem)
}

const checkRole = (role: string) => checkFields({ role: () => checkOneOf(role, 'role', projectRoles) }).role

type MembersDeps = { db: Db; audit: Audit; grantToUser: GrantToUser }

export function createProjectMembersService({ db, audit, grantToUser }: MembersDeps) {
  /** Checks and applies a change to an existing membership. If `requested` is null, the membership is removed. */
  const change = (
    actor: Actor,
    { id, expectedRevision }: RefWithRevision,
    newRole: ProjectRole | null,
  ): Promise<store.ProjectMember | null> =>
    db.transaction(async (tx) => {
      const { projectId } = orNotFound(await store.findProjectMember(tx, id), 'user2project')
      await authority.lockProjectMembers(tx, projectId)
      // The membership is read again under the lock, because a concurrent change may have committed first.
      const before = orNotFound(await store.findProjectMember(tx, id), 'user2project')
      const { userId, role } = before
      await assertGrant(tx, actor, { projectId, userId, existingRole: role as ProjectRole, newRole })
      await checkRevision(tx, actor, before, expectedRevision)
      if (newRole === null) {
        await store.deleteProjectMember(tx, id)
        const revocation = projectMemberEvent('revoke', { before, after: null })
        await audit.append(tx, actor, revocation, ...(await withdrawOfMember(tx, before)))
        return null
      }
      const after = await store.setProjectRole(tx, id, newRole)
      await audit.append(tx, actor, projectMemberEvent('update', { before, after }))
      return after
    })

  return {
    /** Makes the creator of a project its owner, in the transaction that creates the project. */
    addFirstOwner: async (tx: Tx, actor: Actor, projectId: string): Promise<void> => {
      const after = await store.insertProjectMember(tx, { projectId, userId: actor.user.id, role: 'owner' })
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
        await assertGrant(tx, actor, { projectId, userId, existingRole: null, newRole })
        await addUser()
        const after = await store.insertProjectMember(tx, { projectId, userId, role: newRole })
        await audit.append(tx, actor, projectMemberEvent('grant', { before: null, after }))
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
