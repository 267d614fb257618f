import type { Actor } from '../../policy/actor.ts'
import { type RefWithRevision, checkRevision } from '../../policy/revisions.ts'
import { isStillAdministrator, lockProjectRole } from '../../policy/recheck.ts'
import { getProjectRank } from '../../policy/roles.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { badRequest, notFound, notPermitted, orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import { checkFields } from '../../platform/inputs/fields.ts'
import { checkName } from '../../platform/inputs/inputs.ts'
import * as authority from './authority.store.ts'
import type { GrantToUser } from './directory-grants.service.ts'
import { type AboveScope, type TenantRole, findTenantGrantProblem } from './role-grants.pure.ts'
import * as store from './tenant-members.store.ts'
import { withdrawOfMember } from './withdrawn-invitations.service.ts'

export type TenantMembersService = ReturnType<typeof createTenantMembersService>

export const tenantMemberEvent = createEventBuilder<store.TenantMember>({
  type: 'user2tenant',
  classes: { id: 'public', projectId: 'ignored', tenantId: 'public', userId: 'public', roleName: 'public' },
  nameOf: (member) => `${member.roleName} of user ${member.userId}`,
  projectOf: (member) => member.projectId,
})

/** Returns the role of the user. Administrators and maintainers of the project are above the tenant. */
export async function findRoleInTenant(
  tx: Tx,
  userId: string,
  projectId: string,
  tenantId: string,
): Promise<TenantRole | AboveScope | null> {
  if (await isStillAdministrator(tx, userId)) return 'above'
  const projectRole = await lockProjectRole(tx, projectId, userId)
  if (getProjectRank(projectRole) >= getProjectRank('maintainer')) return 'above'
  return authority.findTenantRoleOfUser(tx, tenantId, userId)
}

type Change = {
  projectId: string
  tenantId: string
  existingRole: TenantRole | null
  newRole: TenantRole | null
}

/** Throws unless the caller's roles before the change permit it. The caller must hold the member lock. */
async function assertGrant(tx: Tx, actor: Actor, change: Change): Promise<void> {
  const problem = findTenantGrantProblem({
    caller: await findRoleInTenant(tx, actor.user.id, change.projectId, change.tenantId),
    existingRole: change.existingRole,
    newRole: change.newRole,
    ownerCount: await store.countOwners(tx, change.tenantId),
  })
  if (problem !== null) throw notPermitted(problem)
}

async function findDefinedRole(tx: Tx, tenantId: string, name: string): Promise<TenantRole> {
  const { roleName } = checkFields({ roleName: () => checkName(name, 'roleName') })
  const role = await authority.findTenantRoleByName(tx, tenantId, roleName)
  if (role === null) throw badRequest(`roleName ${name} is not a role definition of this tenant`, 'roleName')
  return role
}

type MembersDeps = { db: Db; audit: Audit; grantToUser: GrantToUser }

export function createTenantMembersService({ db, audit, grantToUser }: MembersDeps) {
  /** Checks and applies a change to an existing membership. If `roleName` is null, the membership is removed. */
  const change = (
    actor: Actor,
    { id, expectedRevision }: RefWithRevision,
    roleName: string | null,
  ): Promise<store.TenantMember | null> =>
    db.transaction(async (tx) => {
      const { tenantId } = orNotFound(await store.findTenantMember(tx, id), 'user2tenant')
      await authority.lockTenantMembers(tx, tenantId)
      // The membership is read again under the lock, because a concurrent change may have committed first.
      const before = orNotFound(await store.findTenantMember(tx, id), 'user2tenant')
      const newRole = roleName === null ? null : await findDefinedRole(tx, tenantId, roleName)
      const current = await authority.findTenantRoleByName(tx, tenantId, before.roleName)
      await assertGrant(tx, actor, { projectId: before.projectId, tenantId, existingRole: current, newRole })
      await checkRevision(tx, actor, before, expectedRevision)
      if (newRole === null) {
        await store.deleteTenantMember(tx, id)
        const revocation = tenantMemberEvent('revoke', { before, after: null })
        await audit.append(tx, actor, revocation, ...(await withdrawOfMember(tx, before)))
        return null
      }
      const after = await store.setTenantRole(tx, id, newRole.name)
      await audit.append(tx, actor, tenantMemberEvent('update', { before, after }))
      return after
    })

  return {
    list: (tenantId: string, args: ListArgs): Promise<store.TenantMember[]> =>
      store.listTenantMembers(db.read, tenantId, readPage(store.tenantMemberFields, args)),

    get: async (tenantId: string, id: string): Promise<store.TenantMember> => {
      const memberId = orNotFound(parseUuid(id), 'user2tenant')
      const member = orNotFound(await store.findTenantMember(db.read, memberId), 'user2tenant')
      if (member.tenantId !== parseUuid(tenantId)) throw notFound('user2tenant')
      return member
    },

    add: (actor: Actor, tenantId: string, userID: string, roleName: string): Promise<store.TenantMember> => {
      const userId = orNotFound(parseUuid(userID), 'user')
      return grantToUser(actor, userId, async (tx, addUser) => {
        const projectId = orNotFound(await authority.lockTenantMembers(tx, tenantId), 'tenant')
        const newRole = await findDefinedRole(tx, tenantId, roleName)
        // The check runs before the write: callers who add themselves must not get permissions from the new row.
        await assertGrant(tx, actor, { projectId, tenantId, existingRole: null, newRole })
        await addUser()
        const values = { projectId, tenantId, userId, roleName: newRole.name }
        const after = await store.insertTenantMember(tx, values)
        await audit.append(tx, actor, tenantMemberEvent('grant', { before: null, after }))
        return after
      })
    },

    updateRole: async (
      actor: Actor,
      member: RefWithRevision,
      roleName: string,
    ): Promise<store.TenantMember> => orNotFound(await change(actor, member, roleName), 'user2tenant'),

    remove: async (actor: Actor, member: RefWithRevision): Promise<true> => {
      await change(actor, member, null)
      return true
    },
  }
}
