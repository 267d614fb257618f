import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { badRequest } from '../../platform/errors.ts'
import { readBodiesOfGets } from '../../platform/http/bodies-of-gets.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { deploymentSchema, readySchema, wakeSchema } from './deployments.schemas.ts'
import { placeOf } from './place.pure.ts'
import type { ReadinessService } from './readiness.service.ts'
import type { WakeService } from './wake.service.ts'

const bodyLimit = 16_384
const config = { policy: { proxy: 'the proxy wakes what it forwards to, before anyone is signed in' } }

/** The routes by which the trusted proxy scales from zero. */
export function registerDeploymentRoutes(
  server: ApiServer,
  { wake, readiness }: { wake: WakeService; readiness: ReadinessService },
): void {
  server.post('/api/proxy/wake', { bodyLimit, config, schema: wakeSchema }, async (request, reply) => {
    void reply.header('cache-control', 'no-store')
    const { minReplicas, alreadyAwake } = await wake.wake(requestedPlace(request))
    void reply.code(202)
    return { success: true as const, min_replicas: minReplicas, already_awake: alreadyAwake }
  })
  void server.register((plain, _options, done) => {
    readBodiesOfGets(plain)
    const scoped = plain.withTypeProvider<TypeBoxTypeProvider>()
    scoped.get('/api/proxy/ready', { config, schema: readySchema }, (request, reply) => {
      void reply.header('cache-control', 'no-store')
      return readiness.ready(requestedPlace(request))
    })
    scoped.get('/api/proxy/deployment', { config, schema: deploymentSchema }, (request, reply) => {
      void reply.header('cache-control', 'no-store')
      return readiness.deployment(requestedPlace(request))
    })
    done()
  })
}

function requestedPlace({ query, body }: Pick<FastifyRequest, 'query' | 'body'>) {
  const place = placeOf(query, body)
  if ('problem' in place) throw badRequest(place.problem)
  return place
}
