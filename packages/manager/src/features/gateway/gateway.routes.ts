import { METHODS, type OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiServer } from '../../platform/http/declarations.ts'
import type { Machine } from '../../policy/authenticate.ts'
import { callSchema } from './gateway.schemas.ts'
import type { GatewayService } from './gateway.service.ts'

// CONNECT asks for a tunnel, not for an answer.
const methods = METHODS.filter((method) => method !== 'CONNECT')

/**
 * ANY /esb/:applicationId/*endpointPath. A call is answered before Fastify looks at its body, which it would judge by the
 * Content-Type: whoever forwards a body reads it, whatever it is.
 */
export function registerGatewayRoutes(server: ApiServer, gateway: GatewayService): void {
  for (const method of methods)
    if (!server.supportedMethods.includes(method)) server.addHttpMethod(method, { hasBody: true })
  const policy = { machine: 'a machine user with an enabled access row for the endpoint' }
  server.route({
    method: methods,
    url: '/esb/*',
    config: { policy, errorShape: 'error' },
    schema: callSchema,
    preParsing: (request, reply) => answer(request, reply, gateway),
    handler: () => {
      throw new Error('a call was not answered')
    },
  })
}

async function answer(request: FastifyRequest, reply: FastifyReply, gateway: GatewayService): Promise<void> {
  const { raw } = request
  try {
    await gateway.call({
      machine: request.machine as Machine,
      request: raw,
      requestId: request.id,
      sourceIp: request.clientAddress,
      response: reply.raw,
      ownHeaders: reply.getHeaders() as OutgoingHttpHeaders,
      onHead: () => void reply.hijack(),
    })
  } catch (error) {
    // An answer that has begun is cut already; there is nobody left to tell, as when the caller went away.
    if (reply.sent || reply.raw.destroyed) return void reply.hijack()
    // The rest of a body nobody wants is not waited for.
    if (!raw.complete) void reply.header('connection', 'close')
    throw error
  }
}
