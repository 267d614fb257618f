import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import { tenantPermissions } from '../../policy/roles.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { badRequest, conflict, orNotFound } from '../../platform/errors.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import { checkEach, checkInput } from '../../platform/inputs/fields.ts'
import { checkName, checkOneOf } from '../../platform/inputs/inputs.ts'
import { lockTenantMembers } from './authority.store.ts'
import * as store from './tenant-roles.store.ts'
import { withdrawOfRole } from './withdrawn-invitations.service.ts'

export type TenantRolesService = ReturnType<typeof createTenantRolesService>

const event = createEventBuilder<store.TenantRoleDefinition>({
  type: 'tenantRoleDefinition',
  classes: {
    id: 'public',
    projectId: 'ignored',
    tenantId: 'public',
    name: 'public',
    permissions: 'public',
    seeded: 'ignored',
  },
  nameOf: (role) => role.name,
  projectOf: (role) => role.projectId,
})

/** The role definitions of a new tenant. */
export const seededTenantRoles = [
  { name: 'member', permissions: ['apps.read'], seeded: true },
  { name: 'admin', permissions: ['apps.read', 'apps.configure', 'members', 'invites'], seeded: true },
  { name: 'owner', permissions: tenantPermissions, seeded: true },
]

export function createTenantRolesService({ db, audit }: { db: Db; audit: Audit }) {
  return {
    /** Inserts the initial definitions in the transaction that creates the tenant. */
    seed: async (tx: Tx, tenant: { id: string; projectId: string }): Promise<void> => {
      await store.insertTenantRoles(tx, tenant, seededTenantRoles)
    },

    list: (tenantId: string, args: ListArgs): Promise<store.TenantRoleDefinition[]> =>
      store.listTenantRoles(db.read, tenantId, readPage(store.tenantRoleFields, args)),

    create: (
      actor: Actor,
      tenantId: string,
      input: { name: string; permissions: readonly string[] },
    ): Promise<store.TenantRoleDefinition> => {
      const role = { ...checkValues(input), seeded: false }
      return db.transaction(async (tx) => {
        const projectId = orNotFound(await store.findProjectOfTenant(tx, tenantId), 'tenant')
        const [inserted] = await store.insertTenantRoles(tx, { id: tenantId, projectId }, [role])
        const after = orNotFound(inserted, 'tenant')
        await audit.append(tx, actor, event('create', { before: null, after }))
        return after
      })
    },

    update: (
      actor: Actor,
      id: string,
      input: {
        name?: string | null
        permissions?: readonly string[] | null
        expectedRevision?: ExpectedRevision
      },
    ): Promise<store.TenantRoleDefinition> =>
      db.transaction(async (tx) => {
        const before = await lock(tx, id)
        await checkRevision(tx, actor, before, input.expectedRevision)
        const { name, permissions } = checkValues({
          name: input.name ?? before.name,
          permissions: input.permissions ?? before.permissions,
        })
        if (before.seeded && name !== before.name)
          throw conflict(`the seeded role ${before.name} cannot be renamed`)
        if (before.seeded && before.name === 'owner')
          throw conflict('the permissions of the role owner cannot be changed')
        const after = await store.updateTenantRole(tx, id, { name, permissions })
        await audit.append(tx, actor, event('update', { before, after }))
        return after
      }),

    delete: (actor: Actor, id: string, expectedRevision: ExpectedRevision): Promise<true> =>
      db.transaction(async (tx) => {
        const before = await lock(tx, id)
        await checkRevision(tx, actor, before, expectedRevision)
        if (before.seeded) throw conflict(`the role ${before.name} is seeded and cannot be deleted`)
        // The invitations that offer the role are deleted with it.
        const withdrawals = await withdrawOfRole(tx, before)
        await store.deleteTenantRole(tx, id)
        await audit.append(tx, actor, event('delete', { before, after: null }), ...withdrawals)
        return true as const
      }),
  }
}

/** Acquires the member lock first. Membership changes use the same order, to prevent deadlocks. */
async function lock(tx: Tx, id: string): Promise<store.TenantRoleDefinition> {
  const { tenantId } = orNotFound(await store.findTenantRole(tx, id), 'tenant role definition')
  await lockTenantMembers(tx, tenantId)
  return orNotFound(await store.lockTenantRole(tx, id), 'tenant role definition')
}

const checkValues = ({ name, permissions }: { name: string; permissions: readonly string[] }) =>
  checkInput({ name: () => checkName(name), permissions: () => checkPermissions(permissions) })

function checkPermissions(permissions: readonly string[]): string[] {
  if (permissions.length > tenantPermissions.length) throw badRequest('a permission is listed more than once')
  return [
    ...new Set(
      checkEach(permissions, (permission) => checkOneOf(permission, 'permissions', tenantPermissions)),
    ),
  ]
}
