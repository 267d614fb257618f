import type { Actor } from '../../policy/actor.ts'
import { isStillAdministrator, projectRoleOf } from '../../policy/recheck.ts'
import { projectRank } from '../../policy/roles.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { auditedEntity } from '../../platform/audit/entity.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { badRequest, notFound, notPermitted, orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import { checkName } from '../../platform/inputs/inputs.ts'
import * as authority from './authority.store.ts'
import { type Above, type TenantRole, refuseTenantGrant } from './role-grants.pure.ts'
import * as store from './tenant-members.store.ts'

export type TenantMembersService = ReturnType<typeof createTenantMembersService>

const event = auditedEntity<store.TenantMember>({
  type: 'user2tenant',
  classes: { id: 'public', projectId: 'ignored', tenantId: 'public', userId: 'public', roleName: 'public' },
  nameOf: (member) => `${member.roleName} of user ${member.userId}`,
  projectOf: (member) => member.projectId,
})

/** What the caller is to a tenant: administrators and maintainers of its project are above it. */
async function callerRole(
  tx: Tx,
  actor: Actor,
  projectId: string,
  tenantId: string,
): Promise<TenantRole | Above | null> {
  if (await isStillAdministrator(tx, actor.user.id)) return 'above'
  const projectRole = await projectRoleOf(tx, projectId, actor.user.id)
  if (projectRank(projectRole) >= projectRank('maintainer')) return 'above'
  return authority.tenantRoleOf(tx, tenantId, actor.user.id)
}

type Change = {
  projectId: string
  tenantId: string
  present: TenantRole | null
  granted: TenantRole | null
}

/** Throws unless the caller, by what they hold before the change, may make it. Needs the member lock. */
async function assertGrant(tx: Tx, actor: Actor, change: Change): Promise<void> {
  const refusal = refuseTenantGrant({
    caller: await callerRole(tx, actor, change.projectId, change.tenantId),
    present: change.present,
    granted: change.granted,
    owners: await store.countOwners(tx, change.tenantId),
  })
  if (refusal !== null) throw notPermitted(refusal)
}

async function definedRole(tx: Tx, tenantId: string, name: string): Promise<TenantRole> {
  const role = await authority.tenantRoleNamed(tx, tenantId, checkName(name, 'roleName'))
  if (role === null) throw badRequest(`roleName ${name} is not a role definition of this tenant`)
  return role
}

/** Rules about who belongs to a tenant. */
export function createTenantMembersService({ db, audit }: { db: Db; audit: Audit }) {
  /** Checks and makes one change of an existing membership; `roleName` null removes it. */
  const change = (actor: Actor, id: string, roleName: string | null): Promise<store.TenantMember | null> =>
    db.transaction(async (tx) => {
      const { tenantId } = orNotFound(await store.findTenantMember(tx, id), 'user2tenant')
      await authority.lockTenantMembers(tx, tenantId)
      // Read again under the lock: another change may have come first.
      const before = orNotFound(await store.findTenantMember(tx, id), 'user2tenant')
      const granted = roleName === null ? null : await definedRole(tx, tenantId, roleName)
      const present = await authority.tenantRoleNamed(tx, tenantId, before.roleName)
      await assertGrant(tx, actor, { projectId: before.projectId, tenantId, present, granted })
      if (granted === null) {
        await store.deleteTenantMember(tx, id)
        await audit.append(tx, actor, event('revoke', { before, after: null }))
        return null
      }
      const after = await store.setTenantRole(tx, id, granted.name)
      await audit.append(tx, actor, event('update', { before, after }))
      return after
    })

  return {
    list: (tenantId: string, args: ListArgs): Promise<store.TenantMember[]> =>
      store.listTenantMembers(db.read, tenantId, readPage(store.tenantMemberFields, args)),

    get: async (tenantId: string, id: string): Promise<store.TenantMember> => {
      const memberId = orNotFound(parseUuid(id), 'user2tenant')
      const found = orNotFound(await store.findTenantMember(db.read, memberId), 'user2tenant')
      if (found.tenantId !== parseUuid(tenantId)) throw notFound('user2tenant')
      return found
    },

    add: (actor: Actor, tenantId: string, userID: string, roleName: string): Promise<store.TenantMember> => {
      const userId = orNotFound(parseUuid(userID), 'user')
      return db.transaction(async (tx) => {
        const projectId = orNotFound(await authority.lockTenantMembers(tx, tenantId), 'tenant')
        const granted = await definedRole(tx, tenantId, roleName)
        // Before the write: a caller who adds themselves must not be judged by the row they are about to get.
        await assertGrant(tx, actor, { projectId, tenantId, present: null, granted })
        const after = await store.insertTenantMember(tx, {
          projectId,
          tenantId,
          userId,
          roleName: granted.name,
        })
        await audit.append(tx, actor, event('grant', { before: null, after }))
        return after
      })
    },

    updateRole: async (actor: Actor, id: string, roleName: string): Promise<store.TenantMember> =>
      orNotFound(await change(actor, id, roleName), 'user2tenant'),

    remove: async (actor: Actor, id: string): Promise<true> => {
      await change(actor, id, null)
      return true
    },
  }
}
