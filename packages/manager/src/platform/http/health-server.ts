// The health port: liveness, readiness and metrics, on a separate listener that no proxy exposes.
import { type Server, createServer } from 'node:http'
import type { Metrics } from '../metrics.ts'
import { healthConnections } from './open-files.ts'
import type { ReadinessProbe } from './readiness.ts'
import { limitConnections } from './connection-limit.ts'
import type { healthPortSchemas } from './health.schemas.ts'

type Answer = { status: number; type: string; body: string }

/** Serves /healthz without any check, /readyz from the probe, and /metrics. */
export function createHealthServer(readiness: ReadinessProbe, metrics: Metrics): Server {
  const routes: Record<keyof typeof healthPortSchemas, () => Promise<Answer>> = {
    '/healthz': () => Promise.resolve(json(200, { status: 'healthy' })),
    '/readyz': async () => {
      const verdict = await readiness.check()
      return json(verdict.status === 'ready' ? 200 : 503, verdict)
    },
    '/metrics': async () => ({
      status: 200,
      type: metrics.registry.contentType,
      body: await metrics.registry.metrics(),
    }),
  }
  const timeouts = { requestTimeout: 5_000, headersTimeout: 5_000, connectionsCheckingInterval: 1_000 }
  const server = createServer(timeouts, (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const route = isRead && Object.hasOwn(routes, path) ? routes[path as keyof typeof routes] : undefined
    const answer = route === undefined ? Promise.resolve(json(404, { error: 'no such route' })) : route()
    const send = ({ status, type, body }: Answer): void => {
      const retry = status === 503 ? { 'retry-after': '1' } : {}
      const length = Buffer.byteLength(body)
      const headers = {
        'content-type': type,
        'content-length': length,
        'cache-control': 'no-store',
        ...retry,
      }
      response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body)
    }
    answer.then(send, () => send(json(500, { error: 'internal error' })))
  })
  limitConnections(server, { max: healthConnections }, () => metrics.shed.inc({ point: 'connections' }))
  return server
}

const json = (status: number, value: unknown): Answer => ({
  status,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
})
