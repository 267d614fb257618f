import type { Actor } from '../../policy/actor.ts'
import { isStillAdministrator, projectRoleOf } from '../../policy/recheck.ts'
import { applicationRoles, projectRank } from '../../policy/roles.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { auditedEntity } from '../../platform/audit/entity.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { notFound, notPermitted, orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import { checkOneOf } from '../../platform/inputs/inputs.ts'
import * as store from './application-members.store.ts'
import * as authority from './authority.store.ts'

export type ApplicationMembersService = ReturnType<typeof createApplicationMembersService>

const event = auditedEntity<store.ApplicationMember>({
  type: 'user2application',
  classes: { id: 'public', projectId: 'ignored', applicationId: 'public', userId: 'public', role: 'public' },
  nameOf: (member) => `${member.role} of user ${member.userId}`,
  projectOf: (member) => member.projectId,
})

/**
 * Throws unless the caller is a maintainer or above. Only the project role matters, because every role that may grant
 * application roles is above them.
 */
async function assertMaintainer(tx: Tx, actor: Actor, projectId: string): Promise<void> {
  if (await isStillAdministrator(tx, actor.user.id)) return
  const role = await projectRoleOf(tx, projectId, actor.user.id)
  if (projectRank(role) < projectRank('maintainer'))
    throw notPermitted('managing memberships requires project role maintainer or higher')
}

export function createApplicationMembersService({ db, audit }: { db: Db; audit: Audit }) {
  return {
    list: (applicationId: string, args: ListArgs): Promise<store.ApplicationMember[]> =>
      store.listApplicationMembers(db.read, applicationId, readPage(store.applicationMemberFields, args)),

    get: async (applicationId: string, id: string): Promise<store.ApplicationMember> => {
      const memberId = orNotFound(parseUuid(id), 'user2application')
      const found = orNotFound(await store.findApplicationMember(db.read, memberId), 'user2application')
      if (found.applicationId !== parseUuid(applicationId)) throw notFound('user2application')
      return found
    },

    add: (
      actor: Actor,
      applicationId: string,
      userID: string,
      role: string,
    ): Promise<store.ApplicationMember> => {
      const granted = checkOneOf(role, 'role', applicationRoles)
      const userId = orNotFound(parseUuid(userID), 'user')
      return db.transaction(async (tx) => {
        const projectId = orNotFound(await authority.lockApplicationMembers(tx, applicationId), 'application')
        await assertMaintainer(tx, actor, projectId)
        const after = await store.insertApplicationMember(tx, {
          projectId,
          applicationId,
          userId,
          role: granted,
        })
        await audit.append(tx, actor, event('grant', { before: null, after }))
        return after
      })
    },

    updateRole: (actor: Actor, id: string, role: string): Promise<store.ApplicationMember> => {
      const granted = checkOneOf(role, 'role', applicationRoles)
      return db.transaction(async (tx) => {
        const before = orNotFound(await store.lockApplicationMember(tx, id), 'user2application')
        await assertMaintainer(tx, actor, before.projectId)
        const after = await store.setApplicationRole(tx, id, granted)
        await audit.append(tx, actor, event('update', { before, after }))
        return after
      })
    },

    remove: (actor: Actor, id: string): Promise<true> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockApplicationMember(tx, id), 'user2application')
        await assertMaintainer(tx, actor, before.projectId)
        await store.deleteApplicationMember(tx, id)
        await audit.append(tx, actor, event('revoke', { before, after: null }))
        return true as const
      }),
  }
}
