// Reads pages of the logged calls of an application.
import { badRequest, orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import { type LogArgs, readLogConnection, readLogQuery } from '../../platform/lists/log-page.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { type CallStatus, parseCallStatus } from './call-status.pure.ts'
import { type PageSelection, countCallsOfPage, readCallPage } from './logged-call-page.store.ts'
import { checkRequestId, findEndpointId } from './logged-calls.service.ts'
import { type LoggedCall, callFields } from './logged-calls.store.ts'

type PageArguments = ListArgs &
  LogArgs & {
    endpointId?: string | null
    machineUserId?: string | null
    requestId?: string | null
    status?: string | null
  }
/** A page in the shape of a GraphQL connection. The total is counted only when the client requests it. */
export type CallPage = Awaited<ReturnType<CallPagesService['page']>>
export type CallPagesService = ReturnType<typeof createCallPagesService>

const position = {
  name: 'call createdAt desc',
  size: 2,
  positionOf: ({ createdAt, id }: LoggedCall): string[] => [createdAt, id],
}

export function createCallPagesService({ db }: { db: Db }) {
  const readSelection = async (applicationId: string, args: PageArguments): Promise<PageSelection> => {
    const { endpointId, machineUserId, requestId = null, status } = args
    checkRequestId(requestId)
    return {
      applicationId,
      endpointId:
        typeof endpointId === 'string' ? await findEndpointId(db.read, applicationId, endpointId) : null,
      machineUserId:
        typeof machineUserId === 'string' ? orNotFound(parseUuid(machineUserId), 'machine user') : null,
      requestId,
      status: typeof status === 'string' ? readStatus(status) : null,
      page: readPage(callFields, { filters: args.filters ?? [] }),
    }
  }
  return {
    /** Returns a page of calls by cursor, newest first. */
    page: async (applicationId: string, args: PageArguments) => {
      const query = readLogQuery(args, position)
      if ((args.order?.length ?? 0) > 0)
        throw badRequest('esbAuditLogsConnection always returns the newest calls first; omit order')
      const selection = await readSelection(applicationId, args)
      return readLogConnection(query, position, {
        read: () => db.transaction((tx) => readCallPage(tx, selection, query)),
        count: () => db.transaction((tx) => countCallsOfPage(tx, selection, query)),
      })
    },
  }
}

function readStatus(text: string): CallStatus {
  const status = parseCallStatus(text)
  if (status === null)
    throw badRequest('status must be an HTTP status such as 404, a class such as 5xx, or the word failed')
  return status
}
