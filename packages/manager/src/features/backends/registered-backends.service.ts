// Shows registered backends to the members of a project. The tokens and secrets of a registration are never read here.
import type { Db } from '../../platform/postgres/handles.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import { findLiveIds } from './liveness.store.ts'
import * as store from './registered-backends.store.ts'

export type RegisteredBackendsDeps = { db: Db; staleAfterMs: number }
export type RegisteredBackendsService = ReturnType<typeof createRegisteredBackendsService>

/** A registration without the path and query of its callback URL, which can contain a secret. */
export type Backend = Omit<store.RegisteredBackend, 'callbackUrl' | 'createdAt'> & {
  callbackOrigin: string
  registeredAt: string
}

export function createRegisteredBackendsService({ db, staleAfterMs }: RegisteredBackendsDeps) {
  return {
    list: async (
      of: { applicationId: string; environmentId?: string | null },
      args: ListArgs,
    ): Promise<Backend[]> => {
      const page = readPage(store.backendFields, args)
      const { applicationId, environmentId = null } = of
      // The policy has already found the application. An environment id that is not a UUID matches no row.
      if (environmentId !== null && parseUuid(environmentId) === null) return []
      const rows = await store.listRegisteredBackends(db.read, { applicationId, environmentId }, page)
      return rows.map(({ callbackUrl, createdAt, ...row }) => ({
        ...row,
        callbackOrigin: new URL(callbackUrl).origin,
        registeredAt: createdAt,
      }))
    },

    /** Returns whether each backend is live, in the order of the ids. */
    findLiveness: async (ids: readonly string[]): Promise<boolean[]> => {
      const liveIds = new Set(await findLiveIds(db.read, ids, staleAfterMs))
      return ids.map((id) => liveIds.has(id))
    },
  }
}
