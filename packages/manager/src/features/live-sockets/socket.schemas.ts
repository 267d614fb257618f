// Describes the WebSocket handshake. The documentation in docs/ describes the frames.
import { Type } from 'typebox'
import { createErrorResponses, createPathIdSchema } from '../../platform/http/http.schemas.ts'

export const socketSchema = {
  operationId: 'openCommsSocket',
  summary: 'Opens a websocket that delivers live messages to a user in a tenant',
  description:
    'The request is a websocket handshake (RFC 6455). `Origin`, if sent, must match `X-Forwarded-Host`, or `Host` if that header is absent. If the user has no access or too many websockets, the Manager upgrades the connection, then closes it with 4500 or 4501.',
  tags: ['proxy' as const],
  params: Type.Object({ appID: createPathIdSchema('The application') }),
  response: {
    101: Type.Null({ description: 'The connection is now a websocket.' }),
    ...createErrorResponses('error', 403),
  },
}
