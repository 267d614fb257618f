// The health port: liveness, readiness and metrics, on a separate listener that no proxy exposes.
import { type Server, createServer } from 'node:http'
import type { Metrics } from '../metrics.ts'
import { healthConnections } from './open-files.ts'
import type { ReadinessProbe } from './readiness.ts'
import { limitConnections } from './connection-limit.ts'
import type { healthPortSchemas } from './health.schemas.ts'

type HealthResponse = { status: number; type: string; body: string }

/** Serves /healthz without any check, /readyz from the probe, and /metrics. */
export function createHealthServer(readiness: ReadinessProbe, metrics: Metrics): Server {
  const routes: Record<keyof typeof healthPortSchemas, () => Promise<HealthResponse>> = {
    '/healthz': () => Promise.resolve(createJsonResponse(200, { status: 'healthy' })),
    '/readyz': async () => {
      const readinessReport = await readiness.check()
      return createJsonResponse(readinessReport.status === 'ready' ? 200 : 503, readinessReport)
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
    const isReadMethod = request.method === 'GET' || request.method === 'HEAD'
    const route =
      isReadMethod && Object.hasOwn(routes, path) ? routes[path as keyof typeof routes] : undefined
    const result =
      route === undefined ? Promise.resolve(createJsonResponse(404, { error: 'no such route' })) : route()
    const send = ({ status, type, body }: HealthResponse): void => {
      const retryHeaders = status === 503 ? { 'retry-after': '1' } : {}
      const length = Buffer.byteLength(body)
      const headers = {
        'content-type': type,
        'content-length': length,
        'cache-control': 'no-store',
        ...retryHeaders,
      }
      response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body)
    }
    result.then(send, () => send(createJsonResponse(500, { error: 'internal error' })))
  })
  limitConnections(server, { max: healthConnections }, () => metrics.shed.inc({ point: 'connections' }))
  return server
}

const createJsonResponse = (status: number, value: unknown): HealthResponse => ({
  status,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
})
