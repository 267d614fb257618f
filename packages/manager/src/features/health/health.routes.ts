import type { ApiServer } from '../../platform/http/declarations.ts'
import type { Gate } from '../../platform/http/gate.ts'
import type { ReadinessProbe } from '../../platform/http/readiness.ts'
import { healthSchema } from './health.schemas.ts'

/** GET and HEAD /health on the API port: the verdict for everyone, the details only for the trusted proxy. */
export function createHealthRoutes(readiness: ReadinessProbe, gate: Gate) {
  return (server: ApiServer): void => {
    const config = {
      policy: { open: 'verdict only; details need a correct X-Proxy-Auth' },
      neverShed: true as const,
    }
    server.route({
      method: ['GET', 'HEAD'],
      url: '/health',
      config,
      schema: healthSchema,
      handler: async (request, reply) => {
        const verdict = await readiness.check()
        const ready = verdict.status === 'ready'
        if (!ready) void reply.header('retry-after', '1')
        void reply.code(ready ? 200 : 503).header('cache-control', 'no-store')
        if (gate.isTrusted(request.raw)) return verdict
        return ready ? { status: 'ok' as const } : { status: 'unavailable' as const }
      },
    })
  }
}
