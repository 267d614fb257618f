import type { Db } from '../../platform/db/database.ts'
import { badRequest, notFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import * as store from './logged-calls.store.ts'

export type LoggedCallsService = ReturnType<typeof createLoggedCallsService>

const maxLimit = 100

/** Reading logged calls. */
export function createLoggedCallsService({ db }: { db: Db }) {
  const endpointOf = async (applicationId: string, id: string): Promise<string> => {
    const known = parseUuid(id)
    if (known === null || !(await store.hasEndpoint(db, applicationId, known))) throw notFound('endpoint')
    return known
  }
  return {
    list: async (
      applicationId: string,
      { endpointId, limit }: { endpointId?: string | null; limit?: number | null },
    ): Promise<store.LoggedCall[]> => {
      const rows = limit ?? maxLimit
      if (rows < 1 || rows > maxLimit) throw badRequest(`limit must be from 1 to ${maxLimit}`)
      const endpoint = typeof endpointId === 'string' ? await endpointOf(applicationId, endpointId) : null
      return db.transaction().execute((tx) => store.listCalls(tx, applicationId, endpoint, rows))
    },

    /** A text that names a call among all others. */
    keyOf: ({ endpointId, machineUserId, createdAt, id }: store.LoggedCall): string =>
      JSON.stringify({ endpointId, machineUserId, createdAt, id } satisfies store.CallKey),

    /** One part of the contents of calls, in the order of their keys. */
    findContents: <Part extends keyof store.CallContents>(
      part: Part,
      keys: readonly string[],
    ): Promise<(store.CallContents[Part] | null)[]> =>
      store.findContents(
        db,
        part,
        keys.map((key) => JSON.parse(key) as store.CallKey),
      ),
  }
}
