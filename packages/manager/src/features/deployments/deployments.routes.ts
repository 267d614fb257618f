import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { acceptGetBodies } from '../../platform/http/get-bodies.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { parseDeploymentKey } from './deployment-key.pure.ts'
import { deploymentSchema, readySchema, wakeSchema } from './deployments.schemas.ts'
import type { ReadinessService } from './readiness.service.ts'
import type { WakeService } from './wake.service.ts'

const bodyLimit = 16_384
const config = { policy: { proxy: 'the proxy wakes deployments before a user is signed in' } }

/** Registers the routes that the trusted proxy uses to scale deployments from zero. */
export function registerDeploymentRoutes(
  server: ApiServer,
  { wake, readiness }: { wake: WakeService; readiness: ReadinessService },
): void {
  server.post('/api/proxy/wake', { bodyLimit, config, schema: wakeSchema }, async (request, reply) => {
    void reply.header('cache-control', 'no-store')
    const { minReplicas, alreadyAwake } = await wake.wake(readDeploymentKey(request))
    void reply.code(202)
    return { success: true as const, min_replicas: minReplicas, already_awake: alreadyAwake }
  })
  void server.register((plain, _options, done) => {
    acceptGetBodies(plain)
    const typedServer = plain.withTypeProvider<TypeBoxTypeProvider>()
    typedServer.get('/api/proxy/ready', { config, schema: readySchema }, (request, reply) => {
      void reply.header('cache-control', 'no-store')
      return readiness.ready(readDeploymentKey(request))
    })
    typedServer.get('/api/proxy/deployment', { config, schema: deploymentSchema }, (request, reply) => {
      void reply.header('cache-control', 'no-store')
      return readiness.deployment(readDeploymentKey(request))
    })
    done()
  })
}

const readDeploymentKey = ({ query, body }: Pick<FastifyRequest, 'query' | 'body'>) =>
  parseDeploymentKey(query, body)
