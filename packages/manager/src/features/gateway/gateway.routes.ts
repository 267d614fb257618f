import { METHODS, type OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiServer } from '../../platform/http/declarations.ts'
import type { Machine } from '../../policy/authenticate.ts'
import { callSchema } from './gateway.schemas.ts'
import type { GatewayService } from './gateway.service.ts'

// All methods except CONNECT, which requests a tunnel instead of a response.
const methods = METHODS.filter((method) => method !== 'CONNECT')

/**
 * Registers ANY /esb/:applicationId/*endpointPath. The handler runs before Fastify parses the body by its
 * Content-Type, because forwarding reads the body itself, regardless of its type.
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
    preParsing: (request, reply) => handleCall(request, reply, gateway),
    handler: () => {
      throw new Error('the call was not handled')
    },
  })
}

async function handleCall(
  request: FastifyRequest,
  reply: FastifyReply,
  gateway: GatewayService,
): Promise<void> {
  const { raw } = request
  try {
    await gateway.call({
      machine: request.machine as Machine,
      request: raw,
      requestId: request.id,
      span: request.span,
      sourceIp: request.clientAddress,
      response: reply.raw,
      ownHeaders: reply.getHeaders() as OutgoingHttpHeaders,
      onEndpoint: (id) => void (request.logFields['endpoint'] = id),
      onFailure: ({ status, failure }) => {
        request.logFields['failure'] = failure
        // A truncated response keeps the status that was already sent.
        request.hasFailed = status !== null && status >= 500
      },
      onHead: () => void reply.hijack(),
    })
  } catch (error) {
    // A response that has started is already truncated, and a caller that disconnected receives no response.
    if (reply.sent || reply.raw.destroyed) return void reply.hijack()
    // The rest of an unused body is not read.
    if (!raw.complete) void reply.header('connection', 'close')
    throw error
  }
}
