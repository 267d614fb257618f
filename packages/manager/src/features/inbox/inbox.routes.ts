import type { FastifyRequest } from 'fastify'
import { badRequest } from '../../platform/errors.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import type { TenantUser } from '../../platform/http/identity.ts'
import { parseUuid } from '../../platform/ids.ts'
import { inboxSchema, markReadSchema, markSeenSchema, unreadSchema } from './inbox.schemas.ts'
import type { InboxPlace, InboxService } from './inbox.service.ts'
import type { Marked } from './mark-text.pure.ts'

// Twice as many ids as are accepted still get to hear that they are too many.
const bodyLimit = 65_536
const path = '/api/proxy/comms/:appID'
const config = { policy: { tenantUser: 'their own notifications in the tenant and application' } }

/** The routes by which people read their notifications, through the trusted proxy. */
export function registerInboxRoutes(server: ApiServer, inbox: InboxService): void {
  server.get(`${path}/notifications`, { config, schema: inboxSchema }, async (request, reply) => {
    const { limit = '20', cursor = '', unread, type = '' } = request.query
    const text = await inbox.page(placeOf(request), {
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
    return { unread: await inbox.isUnread(placeOf(request)) }
  })
  server.post(
    `${path}/notifications/read`,
    { bodyLimit, config, schema: markReadSchema },
    async (request, reply) => {
      void reply.header('cache-control', 'no-store')
      const { ids, all, connection_id: connectionId = null } = request.body
      const wanted = { mark: 'read' as const, marked: markedOf(ids, all), connectionId }
      return { updated: await inbox.mark(placeOf(request), wanted) }
    },
  )
  server.post(
    `${path}/notifications/seen`,
    { bodyLimit, config, schema: markSeenSchema },
    async (request, reply) => {
      void reply.header('cache-control', 'no-store')
      const { ids, all, connection_id: connectionId = null } = request.body
      if (all !== undefined) throw badRequest('all cannot be marked seen; send the ids that were shown')
      if (ids === undefined) throw badRequest('send ids, the notifications that were shown')
      return { updated: await inbox.mark(placeOf(request), { mark: 'seen', marked: { ids }, connectionId }) }
    },
  )
}

/** Null when the address names no application. */
function placeOf(request: FastifyRequest): InboxPlace | null {
  const applicationId = parseUuid((request.params as { appID: string }).appID)
  return applicationId === null ? null : { ...(request.tenantUser as TenantUser), applicationId }
}

function markedOf(ids: readonly string[] | undefined, all: true | undefined): Marked {
  if (ids !== undefined && all !== undefined) throw badRequest('send either ids or all, not both')
  if (ids !== undefined) return { ids }
  if (all !== undefined) return { all }
  throw badRequest('send ids, or all as true')
}
