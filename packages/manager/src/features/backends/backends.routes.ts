import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { ignoreBodies } from '../../platform/http/ignore-bodies.ts'
import { sendPieces } from '../../platform/http/send-pieces.ts'
import type { Machine } from '../../policy/authenticate.ts'
import type { ApplicationTenantsService } from './application-tenants.service.ts'
import {
  applicationTenantsSchema,
  heartbeatSchema,
  registerSchema,
  unregisterSchema,
} from './backends.schemas.ts'
import type { HeartbeatsService } from './heartbeats.service.ts'
import type { Caller, RegistrationsService } from './registrations.service.ts'

export type BackendServices = {
  registrations: RegistrationsService
  heartbeats: HeartbeatsService
  tenants: ApplicationTenantsService
}

const bodyLimit = 16_384
const errorShape = 'envelope' as const
const createConfig = (machine: string) => ({ policy: { machine }, errorShape })

/** Registers the routes for registrations, heartbeats and the tenants of an application. */
export function registerBackendRoutes(server: ApiServer, services: BackendServices): void {
  const { registrations, tenants } = services
  const registerConfig = createConfig(
    'a machine user; the application must belong to the project of its environment',
  )
  server.post(
    '/api/machine/register-backend',
    {
      bodyLimit,
      config: { ...registerConfig, audited: ['backendRegistration create'] },
      schema: registerSchema,
    },
    async (request, reply) => {
      const { application_id, callback_url, version } = request.body
      const applicationId = application_id.toLowerCase()
      const caller = getCaller(request)
      const input = { applicationId, callbackUrl: callback_url, version: version ?? '' }
      const { id, token, signingSecret, isNew } = await registrations.register(caller, input)
      void reply.code(isNew ? 201 : 200).header('cache-control', 'no-store')
      return {
        success: true as const,
        registered_id: id,
        token,
        signing_secret: signingSecret,
        message: isNew ? 'Backend registered' : 'Backend registration updated',
        environment_id: caller.machine.environmentId,
        application_id: applicationId,
      }
    },
  )
  void server.register((scoped, _options, done) => {
    ignoreBodies(scoped)
    registerOwnRoutes(scoped.withTypeProvider<TypeBoxTypeProvider>(), services)
    done()
  })
  server.get(
    '/api/machine/application/:id/tenants',
    { config: registerConfig, schema: applicationTenantsSchema },
    async (request, reply) => {
      const pages = await tenants.list(getMachine(request), request.params.id)
      return sendPieces(request, reply, serializePages(pages))
    },
  )
}

/** Registers the routes that act on the caller's own registration. */
function registerOwnRoutes(server: ApiServer, { registrations, heartbeats }: BackendServices): void {
  const ownerConfig = createConfig('the machine user that created the registration')
  server.put(
    '/api/machine/backend/:id/heartbeat',
    { bodyLimit, config: ownerConfig, schema: heartbeatSchema },
    async (request, reply) => {
      void reply.header('cache-control', 'no-store')
      const id = await heartbeats.accept(getMachine(request).id, request.params.id)
      return { success: true as const, registered_id: id, message: 'Heartbeat received' }
    },
  )
  server.delete(
    '/api/machine/backend/:id',
    {
      bodyLimit,
      config: { ...ownerConfig, audited: ['backendRegistration delete'] },
      schema: unregisterSchema,
    },
    async (request, reply) => {
      void reply.header('cache-control', 'no-store')
      await registrations.unregister(getCaller(request), request.params.id)
      return { success: true as const, message: 'Backend unregistered' }
    },
  )
}

const getMachine = (request: FastifyRequest): Machine => request.machine as Machine

function getCaller(request: FastifyRequest): Caller {
  const machine = getMachine(request)
  return {
    machine,
    actor: {
      principal: { type: 'machine_user', id: machine.id },
      ipAddress: request.clientAddress,
      userAgent: request.headers['user-agent'] ?? '',
      traceId: request.span.context?.traceId,
    },
  }
}

/** Yields the response as JSON, one piece per page. */
async function* serializePages(pages: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  let before = '{"success":true,"tenants":['
  for await (const page of pages) {
    yield before + page.map((tenant) => JSON.stringify(tenant)).join(',')
    before = ','
  }
  yield ']}'
}
