import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import * as store from './tenant2applications.store.ts'

export type Tenant2ApplicationsDeps = { db: Db; audit: Audit }
export type Tenant2ApplicationsService = ReturnType<typeof createTenant2ApplicationsService>

const event = createEventBuilder<store.Tenant2Application>({
  type: 'tenant2Application',
  classes: {
    id: 'public',
    projectId: 'ignored',
    tenantId: 'public',
    applicationId: 'public',
    enabled: 'public',
  },
  nameOf: (row) => row.id,
  projectOf: (row) => row.projectId,
})

export function createTenant2ApplicationsService({ db, audit }: Tenant2ApplicationsDeps) {
  return {
    list: (
      of: { tenantId?: string | null; applicationId?: string | null },
      args: ListArgs,
    ): Promise<store.Tenant2Application[]> => {
      const { tenantId = null, applicationId = null } = of
      const page = readPage(store.tenant2ApplicationFields, args)
      // The policy has already found the tenant. An application id that is not a UUID matches no row.
      if (applicationId !== null && parseUuid(applicationId) === null) return Promise.resolve([])
      return store.listTenant2Applications(db.read, { tenantId, applicationId }, page)
    },

    findMany: (ids: readonly string[]): Promise<store.Tenant2Application[]> =>
      store.findTenant2Applications(db.read, ids),

    create: (
      actor: Actor,
      input: { tenantId: string; applicationId: string; enabled?: boolean | null },
    ): Promise<store.Tenant2Application> => {
      const applicationId = orNotFound(parseUuid(input.applicationId), 'application')
      return db.transaction(async (tx) => {
        const insertedRow = await store.insertTenant2Application(tx, {
          tenantId: input.tenantId,
          applicationId,
          enabled: input.enabled ?? true,
        })
        const after = orNotFound(insertedRow, 'tenant')
        await audit.append(tx, actor, event('create', { before: null, after }))
        return after
      })
    },

    update: (
      actor: Actor,
      id: string,
      input: { enabled?: boolean | null; expectedRevision?: ExpectedRevision },
    ): Promise<store.Tenant2Application> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockTenant2Application(tx, id), 'tenant2Application')
        await checkRevision(tx, actor, before, input.expectedRevision)
        const after = await store.setEnabled(tx, id, input.enabled ?? before.enabled)
        await audit.append(tx, actor, event('update', { before, after }))
        return after
      }),

    delete: (actor: Actor, id: string, expectedRevision: ExpectedRevision): Promise<true> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockTenant2Application(tx, id), 'tenant2Application')
        await checkRevision(tx, actor, before, expectedRevision)
        await store.deleteTenant2Application(tx, id)
        await audit.append(tx, actor, event('delete', { before, after: null }))
        return true as const
      }),
  }
}
