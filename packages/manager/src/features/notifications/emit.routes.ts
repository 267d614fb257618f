import type { FastifyRequest } from 'fastify'
import { badRequest } from '../../platform/errors.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { decodeHeader, readSingleHeader } from '../../platform/http/headers.ts'
import type { Machine } from '../../policy/authenticate.ts'
import { maxBodyBytes, readEmitInput, readLiveData } from './emit-input.pure.ts'
import { emitSchema, publishSchema } from './emit.schemas.ts'
import type { EmitService } from './emit.service.ts'
import type { PublishService } from './publish.service.ts'

const bodyLimit = maxBodyBytes
const config = {
  policy: {
    machine: 'a machine user; the application and the tenant must belong to the project of its environment',
  },
}

/** Registers the routes that backends use to emit notifications and publish live data. */
export function registerEmitRoutes(
  server: ApiServer,
  services: { emits: EmitService; publishes: PublishService },
): void {
  server.post(
    '/api/machine/comms/emit',
    { bodyLimit, config, schema: emitSchema },
    async (request, reply) => {
      const input = readEmitInput(request.body, getIdempotencyKey(request))
      const bytes = Number(request.headers['content-length'] ?? bodyLimit)
      const target = getTarget(request, request.body)
      const response = await services.emits.emit({ ...target, input, bytes, requestId: request.id })
      void reply.code(202).header('cache-control', 'no-store')
      return {
        notification_id: response.notificationId,
        request_id: response.requestId,
        recipient_count: response.recipientCount,
      }
    },
  )
  server.post(
    '/api/machine/comms/publish',
    { bodyLimit, config, schema: publishSchema },
    async (request, reply) => {
      await services.publishes.publish(getTarget(request, request.body), readLiveData(request.body))
      void reply.code(202).header('cache-control', 'no-store')
      return { published: true as const }
    },
  )
}

const getTarget = (request: FastifyRequest, body: { application_id: string; tenant_id: string }) => ({
  projectId: (request.machine as Machine).projectId,
  applicationId: body.application_id.toLowerCase(),
  tenantId: body.tenant_id.toLowerCase(),
})

/** Returns the Idempotency-Key header. Throws 400 if it is repeated. */
function getIdempotencyKey(request: FastifyRequest): string | null {
  const header = readSingleHeader(request.raw, 'idempotency-key')
  if (header === 'repeated') throw badRequest('Idempotency-Key is sent more than once', 'idempotency-key')
  return header === null ? null : decodeHeader(header.value)
}
