import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import * as store from './endpoint-access.store.ts'

export type EndpointAccessService = ReturnType<typeof createEndpointAccessService>

const event = createEventBuilder<store.EndpointAccess>({
  type: 'machineUser2Endpoint',
  classes: {
    id: 'public',
    projectId: 'ignored',
    machineUserId: 'public',
    endpointId: 'public',
    enabled: 'public',
  },
  nameOf: (row) => row.id,
  projectOf: (row) => row.projectId,
})
const noun = 'machineUser2Endpoint'

export function createEndpointAccessService({ db, audit }: { db: Db; audit: Audit }) {
  return {
    list: (endpointId: string, args: ListArgs): Promise<store.EndpointAccess[]> =>
      store.listEndpointAccess(db.read, endpointId, readPage(store.endpointAccessFields, args)),

    get: async (endpointId: string, id: string): Promise<store.EndpointAccess> => {
      const parsedId = parseUuid(id)
      const row = parsedId === null ? null : await store.findEndpointAccess(db.read, endpointId, parsedId)
      return orNotFound(row, noun)
    },

    create: (
      actor: Actor,
      input: { machineUserID: string; endpointID: string; enabled?: boolean | null },
    ): Promise<store.EndpointAccess> => {
      const machineUserId = orNotFound(parseUuid(input.machineUserID), 'machine user')
      return db.transaction(async (tx) => {
        const insertedRow = await store.insertEndpointAccess(tx, {
          machineUserId,
          endpointId: input.endpointID,
          enabled: input.enabled ?? true,
        })
        const after = orNotFound(insertedRow, 'endpoint')
        await audit.append(tx, actor, event('create', { before: null, after }))
        return after
      })
    },

    update: (
      actor: Actor,
      id: string,
      input: { enabled?: boolean | null; expectedRevision?: ExpectedRevision },
    ): Promise<store.EndpointAccess> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockEndpointAccess(tx, id), noun)
        await checkRevision(tx, actor, before, input.expectedRevision)
        const after = await store.setEnabled(tx, id, input.enabled ?? before.enabled)
        await audit.append(tx, actor, event('update', { before, after }))
        return after
      }),

    delete: (actor: Actor, id: string, expectedRevision: ExpectedRevision): Promise<true> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockEndpointAccess(tx, id), noun)
        await checkRevision(tx, actor, before, expectedRevision)
        await store.deleteEndpointAccess(tx, id)
        await audit.append(tx, actor, event('delete', { before, after: null }))
        return true as const
      }),
  }
}
