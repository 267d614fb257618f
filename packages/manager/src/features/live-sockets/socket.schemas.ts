// The handshake of the websocket; its frames are described in docs/.
import { Type } from 'typebox'
import { errorResponses, idInPath } from '../../platform/http/http.schemas.ts'

export const socketSchema = {
  operationId: 'openCommsSocket',
  summary: 'A websocket that tells a user in a tenant what is new',
  description:
    'A websocket handshake (RFC 6455). `Origin`, if it is sent, must name the host of `X-Forwarded-Host`, or else of `Host`. Who has no access, or too many sockets, is upgraded too, and the socket is then closed with 4500 or 4501.',
  tags: ['proxy' as const],
  params: Type.Object({ appID: idInPath('The application') }),
  response: {
    101: Type.Null({ description: 'The connection is a websocket from here on.' }),
    ...errorResponses('error', 403),
  },
}
