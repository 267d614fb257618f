import type { FastifyRequest } from 'fastify'
import { badRequest } from '../../platform/errors.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import type { TenantUser } from '../../platform/http/identity.ts'
import { parseUuid } from '../../platform/ids.ts'
import { inboxSchema, markReadSchema, markSeenSchema, unreadSchema } from './inbox.schemas.ts'
import type { InboxId, InboxService } from './inbox.service.ts'
import type { MarkedRows } from './mark-text.pure.ts'

// The body limit allows about twice the accepted number of ids, so that a request with slightly too many ids
// still gets the specific error.
const bodyLimit = 65_536
const path = '/api/proxy/comms/:appID'
const config = { policy: { tenantUser: "the caller's own notifications in the tenant and application" } }

/** Registers the routes that users call through the trusted proxy to read their notifications. */
export function registerInboxRoutes(server: ApiServer, inbox: InboxService): void {
  server.get(`${path}/notifications`, { config, schema: inboxSchema }, async (request, reply) => {
    const { limit = '20', cursor = '', unread, type = '' } = request.query
    const text = await inbox.readPageJson(getInboxId(request), {
      limit: Number(limit),
      cursor: cursor === '' ? null : cursor,
      unread: unread === 'true',
      type: type === '' ? null : type,
    })
    return reply
      .header('cache-control', 'no-store')
      .type('application/json; charset=utf-8')
      .send(text as never)
  })
  server.get(`${path}/unread`, { config, schema: unreadSchema }, async (request, reply) => {
    void reply.header('cache-control', 'no-store')
    return { unread: await inbox.isUnread(getInboxId(request)) }
  })
  server.post(
    `${path}/notifications/read`,
    { bodyLimit, config, schema: markReadSchema },
    async (request, reply) => {
      void reply.header('cache-control', 'no-store')
      const { ids, all, connection_id: connectionId = null } = request.body
      const markRequest = { mark: 'read' as const, marked: readMarked(ids, all), connectionId }
      return { updated: await inbox.mark(getInboxId(request), markRequest) }
    },
  )
  server.post(
    `${path}/notifications/seen`,
    { bodyLimit, config, schema: markSeenSchema },
    async (request, reply) => {
      void reply.header('cache-control', 'no-store')
      const { ids, all, connection_id: connectionId = null } = request.body
      if (all !== undefined)
        throw badRequest(
          'marking all as seen is not supported; send the ids of the displayed notifications',
          'all',
        )
      if (ids === undefined)
        throw badRequest('ids is missing; send the ids of the displayed notifications', 'ids')
      return {
        updated: await inbox.mark(getInboxId(request), { mark: 'seen', marked: { ids }, connectionId }),
      }
    },
  )
}

/** Returns the inbox of the request, or null if the path does not contain an application id. */
function getInboxId(request: FastifyRequest): InboxId | null {
  const applicationId = parseUuid((request.params as { appID: string }).appID)
  return applicationId === null ? null : { ...(request.tenantUser as TenantUser), applicationId }
}

function readMarked(ids: readonly string[] | undefined, all: true | undefined): MarkedRows {
  if (ids !== undefined && all !== undefined) throw badRequest('send either ids or all, not both', 'all')
  if (ids !== undefined) return { ids }
  if (all !== undefined) return { all }
  throw badRequest('send ids, or all: true', 'ids')
}
