import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import { findVisibleRows } from '../../policy/visible-rows.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { orNotFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import { checkInput } from '../../platform/inputs/fields.ts'
import { checkName, checkOneOf, checkSlug, selectChanges } from '../../platform/inputs/inputs.ts'
import type { MembershipsApi } from '../memberships/index.ts'
import type { ProjectsApi } from '../projects/index.ts'
import * as store from './tenants.store.ts'

export type TenantsDeps = { db: Db; audit: Audit; projects: ProjectsApi; memberships: MembershipsApi }
export type TenantsService = ReturnType<typeof createTenantsService>

type Input = { name?: string | null; slug?: string | null; deploymentMode?: string | null }
type Changes = Input & { expectedRevision?: ExpectedRevision }

const event = createEventBuilder<store.Tenant>({
  type: 'tenant',
  classes: { id: 'public', projectId: 'ignored', name: 'public', slug: 'public', deploymentMode: 'public' },
  nameOf: (tenant) => tenant.slug,
  projectOf: (tenant) => tenant.projectId,
})
const deploymentModes = ['shared', 'dedicated'] as const

export function createTenantsService({ db, audit, projects, memberships }: TenantsDeps) {
  const list = async (
    actor: Actor,
    projectIds: readonly string[],
    args: ListArgs,
  ): Promise<store.Tenant[]> => {
    const page = readPage(store.tenantFields, args)
    const visibleTenants = await findVisibleRows(actor, projectIds, ({ tenants }) =>
      [...tenants].filter(([, permissions]) => permissions.has('apps.read')).map(([id]) => id),
    )
    return store.listTenants(db.read, projectIds, visibleTenants, page)
  }
  return {
    list,

    listByProjectSlug: async (actor: Actor, slug: string, args: ListArgs): Promise<store.Tenant[]> =>
      list(actor, [await projects.getIdBySlug(actor, slug)], args),

    findMany: (ids: readonly string[]): Promise<store.Tenant[]> => store.findTenants(db.read, ids),

    getBySlug: async (projectId: string, slug: string): Promise<store.Tenant> =>
      orNotFound(await store.findTenantBySlug(db.read, projectId, slug), 'tenant'),

    /** Creates the tenant, its seeded role definitions and the audit row in one transaction. */
    create: (
      actor: Actor,
      projectId: string,
      input: Input & { name: string; slug: string },
    ): Promise<store.Tenant> => {
      const values = checkValues({ ...input, deploymentMode: input.deploymentMode ?? 'shared' })
      return db.transaction(async (tx) => {
        const after = await store.insertTenant(tx, { id: newId(), projectId, ...values })
        await memberships.seedTenantRoles(tx, after)
        await audit.append(tx, actor, event('create', { before: null, after }))
        return after
      })
    },

    update: (actor: Actor, id: string, input: Changes): Promise<store.Tenant> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockTenant(tx, id), 'tenant')
        await checkRevision(tx, actor, before, input.expectedRevision)
        const after = await store.updateTenant(
          tx,
          before.id,
          checkValues({ ...before, ...selectChanges(input) }),
        )
        await audit.append(tx, actor, event('update', { before, after }))
        return after
      }),

    delete: (actor: Actor, id: string, expectedRevision: ExpectedRevision): Promise<true> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockTenant(tx, id), 'tenant')
        await checkRevision(tx, actor, before, expectedRevision)
        await store.deleteTenant(tx, before.id)
        await audit.append(tx, actor, event('delete', { before, after: null }))
        return true as const
      }),
  }
}

function checkValues(values: { name: string; slug: string; deploymentMode: string }): store.TenantValues {
  return checkInput({
    name: () => checkName(values.name),
    slug: () => checkSlug(values.slug),
    deploymentMode: () => checkOneOf(values.deploymentMode, 'deploymentMode', deploymentModes),
  })
}
