import type { ApiServer } from '../../platform/http/declarations.ts'
import type { Gate } from '../../platform/http/gate.ts'
import type { ReadinessProbe } from '../../platform/http/readiness.ts'
import { healthSchema } from './health.schemas.ts'

/**
 * Registers GET and HEAD /health on the API port. Every client gets the status; only the trusted proxy gets the
 * details.
 */
export function createHealthRoutes(readiness: ReadinessProbe, gate: Gate) {
  return (server: ApiServer): void => {
    const config = {
      policy: { open: 'status only; details require a correct X-Proxy-Auth' },
      neverShed: true as const,
    }
    server.route({
      method: ['GET', 'HEAD'],
      url: '/health',
      config,
      schema: healthSchema,
      handler: async (request, reply) => {
        const verdict = await readiness.check()
        const isReady = verdict.status === 'ready'
        if (!isReady) void reply.header('retry-after', '1')
        void reply.code(isReady ? 200 : 503).header('cache-control', 'no-store')
        if (gate.isTrusted(request.raw)) return verdict
        return isReady ? { status: 'ok' as const } : { status: 'unavailable' as const }
      },
    })
  }
}
