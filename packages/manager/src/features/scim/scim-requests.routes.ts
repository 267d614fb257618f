// Declarations and helpers that all SCIM routes share.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { scimMediaType } from '../../platform/http/error-bodies.ts'
import { sendNotModified } from '../../platform/http/send-cached.ts'
import type { ScimClient } from '../../policy/authenticate.ts'
import type { ScimCaller, ScimTarget } from './scim-changes.service.ts'
import { formatVersion, matchesVersion, parseSelection } from './scim-resource.pure.ts'

export const path = '/scim/v2'
export const config = {
  policy: { scim: 'an identity provider that provisions people' },
  errorShape: 'scim' as const,
}
/** The configuration of a route that writes these audit rows. */
export const change = (...audited: string[]) => ({ ...config, audited })

/** The rows of roles that a group rule gives or takes when the members of a group change. */
export const roleRows = ['groupRule grant', 'groupRule revoke'] as const

export const send = (reply: FastifyReply, body: object): FastifyReply =>
  reply.header('cache-control', 'no-store').type(scimMediaType).send(body)

/** Sends nothing, with 204. */
export const sendNothing = (reply: FastifyReply): FastifyReply =>
  reply.code(204).header('cache-control', 'no-store').send(undefined)

/** Sends the resource that `render` returns, or 304 if the client has this version. */
export async function sendVersion(
  request: FastifyRequest,
  reply: FastifyReply,
  revision: number,
  render: () => object | Promise<object>,
): Promise<FastifyReply> {
  void reply.header('etag', formatVersion(revision))
  const { 'if-none-match': ifNoneMatch } = request.headers
  if (ifNoneMatch !== undefined && matchesVersion(ifNoneMatch, revision))
    return sendNotModified(request, reply.header('cache-control', 'no-store'))
  return send(reply, await render())
}

export type Selected = { attributes?: string; excludedAttributes?: string }
export const readSelection = ({ attributes, excludedAttributes }: Selected) =>
  parseSelection(attributes, excludedAttributes)

export const getTarget = (request: FastifyRequest): ScimTarget => ({
  id: (request.params as { id: string }).id,
  ifMatch: request.headers['if-match'] ?? null,
})

export function getCaller(request: FastifyRequest): ScimCaller {
  return {
    ...(request.scimClient as ScimClient),
    ipAddress: request.clientAddress,
    userAgent: request.headers['user-agent'] ?? '',
    traceId: request.span.context?.traceId,
  }
}
