import type { Db, Reads } from '../../platform/postgres/handles.ts'
import { badRequest, notFound } from '../../platform/errors.ts'
import { isRequestId, parseUuid } from '../../platform/ids.ts'
import { checkFields } from '../../platform/inputs/fields.ts'
import { type TimeBounds, readTimeWindow } from '../../platform/inputs/time-window.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import * as store from './logged-calls.store.ts'

export type LoggedCallsService = ReturnType<typeof createLoggedCallsService>

type ListArguments = ListArgs &
  TimeBounds & {
    endpointId?: string | null
    limit?: number | null
    requestId?: string | null
  }

const maxLimit = 100

/**
 * Checks the request id, and parses the page arguments. `limit` is shorthand for the first page. It cannot be combined with
 * `pagination`, because one of the two would be ignored.
 */
function readListPage({ limit = null, requestId = null, ...args }: ListArguments) {
  const window = readTimeWindow(args)
  const checked = checkFields({
    '': () => readPage(store.callFields, args),
    limit: () => {
      if (limit === null) return {}
      if ((args.pagination ?? null) !== null) throw badRequest('pass either limit or pagination, not both')
      if (limit < 1 || limit > maxLimit) throw badRequest(`limit must be from 1 to ${maxLimit}`)
      return { limit }
    },
    requestId: () => checkRequestId(requestId),
  })
  return { page: { ...checked[''], ...checked.limit }, window }
}

/** Returns the id of an endpoint of the application; throws 404 if the application has no such endpoint. */
export async function findEndpointId(db: Reads, applicationId: string, id: string): Promise<string> {
  const parsedId = parseUuid(id)
  if (parsedId === null || !(await store.hasEndpoint(db, applicationId, parsedId))) throw notFound('endpoint')
  return parsedId
}

/** Throws 400 if no call can have this request id. */
export function checkRequestId(requestId: string | null): void {
  if (requestId !== null && !isRequestId(requestId))
    throw badRequest(
      'requestId must be the X-Request-Id of a response: 1 to 64 letters, digits, dots, underscores or hyphens',
    )
}

export function createLoggedCallsService({ db }: { db: Db }) {
  return {
    list: async (
      applicationId: string,
      { endpointId, ...args }: ListArguments,
    ): Promise<store.LoggedCall[]> => {
      const { page, window } = readListPage(args)
      const endpoint =
        typeof endpointId === 'string' ? await findEndpointId(db.read, applicationId, endpointId) : null
      const requestIdFilter = page.filters.find(({ column }) => column === 'requestId')
      const selection = {
        applicationId,
        endpointId: endpoint,
        requestId: args.requestId ?? requestIdFilter?.value ?? null,
        window,
      }
      return db.transaction((tx) => store.listCalls(tx, selection, page))
    },

    /** Returns a string that uniquely identifies a call. */
    keyOf: ({ endpointId, machineUserId, createdAt, id }: store.LoggedCall): string =>
      JSON.stringify({ endpointId, machineUserId, createdAt, id } satisfies store.CallKey),

    /** Returns one part of each call, such as the request body, in the order of the keys. */
    findContents: <Part extends keyof store.CallContents>(
      part: Part,
      keys: readonly string[],
    ): Promise<(store.CallContents[Part] | null)[]> =>
      store.findContents(
        db.read,
        part,
        keys.map((key) => JSON.parse(key) as store.CallKey),
      ),
  }
}
