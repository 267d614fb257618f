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
import { createGroupRoleError, groupRolesService } from './group-roles.service.ts'
import { createMemberExistsError } from './member-exists.pure.ts'
import { type AboveScope, type TenantRole, findTenantGrantProblem } from './role-grants.pure.ts'
import * as store from './tenant-members.store.ts'
import { withdrawOfMember } from './withdrawn-invitations.service.ts'

export type TenantMembersService = ReturnType<typeof createTenantMembersService>

export const tenantMemberEvent = createEventBuilder<store.TenantMember>({
  type: 'user2tenant',
  classes: {
    id: 'public',
    projectId: 'ignored',
    tenantId: 'public',
    userId: 'public',
    roleName: 'public',
    groupRuleId: 'public',
  },
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
  userId: string
  before: store.TenantMember | null
  newRole: TenantRole | null
  isRemoval: boolean
}

/** Throws unless the caller's roles before the change permit it. The caller must hold the member lock. */
async function assertGrant(tx: Tx, actor: Actor, change: Change): Promise<void> {
  const { tenantId, before } = change
  const problem = findTenantGrantProblem({
    caller: await findRoleInTenant(tx, actor.user.id, change.projectId, tenantId),
    isSelf: change.userId === actor.user.id,
    existingRole:
      before === null ? null : await authority.findTenantRoleByName(tx, tenantId, before.roleName),
    isRoleOfGroup: (before?.groupRuleId ?? null) !== null,
    isRemoval: change.isRemoval,
    newRole: change.newRole,
    otherOwners: await store.countOtherOwners(tx, change.tenantId, change.userId),
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

/** Returns a function that checks and applies a change to an existing membership. If `roleName` is null, the membership is removed. */
const createChange =
  ({ db, audit }: MembersDeps) =>
  (
    actor: Actor,
    { id, expectedRevision }: RefWithRevision,
    roleName: string | null,
  ): Promise<store.TenantMember | null> =>
    db.transaction(async (tx) => {
      const { tenantId } = orNotFound(await store.findTenantMember(tx, id), 'user2tenant')
      await authority.lockTenantMembers(tx, tenantId)
      // The membership is read again under the lock, because a concurrent change may have committed first.
      const before = orNotFound(await store.findTenantMember(tx, id), 'user2tenant')
      const { projectId, userId } = before
      const object = { kind: 'tenant' as const, id: tenantId }
      const isRemoval = roleName === null
      // After the removal of a direct role, the role of the person's groups applies: it must be one that the caller may give.
      const groupRole = isRemoval ? await groupRolesService.findRole(tx, userId, object) : null
      const nextName = roleName ?? groupRole
      const newRole = nextName === null ? null : await findDefinedRole(tx, tenantId, nextName)
      await assertGrant(tx, actor, { projectId, tenantId, userId, before, newRole, isRemoval })
      await checkRevision(tx, actor, before, expectedRevision)
      if (isRemoval || newRole === null) {
        if (before.groupRuleId !== null) throw createGroupRoleError()
        await store.deleteTenantMember(tx, id)
        const revocation = tenantMemberEvent('revoke', { before, after: null })
        const fromGroups = await groupRolesService.apply(tx, [userId], [object])
        await audit.append(tx, actor, revocation, ...fromGroups, ...(await withdrawOfMember(tx, before)))
        return null
      }
      const after = await store.setTenantRole(tx, id, newRole.name)
      await audit.append(
        tx,
        actor,
        ...(await groupRolesService.describe(tx, tenantMemberEvent, { before, after })),
      )
      return after
    })

export function createTenantMembersService(deps: MembersDeps) {
  const { db, audit, grantToUser } = deps
  const change = createChange(deps)
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
        // A direct role replaces that of a group, so it must not demote a member with a higher role.
        const before = (await store.findTenantMemberOfGroup(tx, tenantId, userId)) ?? null
        // The check runs before the write: callers who add themselves must not get permissions from the new row.
        await assertGrant(tx, actor, { projectId, tenantId, userId, before, newRole, isRemoval: false })
        await addUser()
        const values = { projectId, tenantId, userId, roleName: newRole.name }
        const after = await store.insertTenantMember(tx, values)
        if (after === undefined) throw createMemberExistsError('tenant')
        await audit.append(
          tx,
          actor,
          ...(await groupRolesService.describe(tx, tenantMemberEvent, { before, after })),
        )
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
