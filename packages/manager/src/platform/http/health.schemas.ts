// Schemas of the health responses on both ports.
import { Type } from 'typebox'

export const readinessSchema = Type.Object(
  {
    status: Type.Enum(['ready', 'unavailable', 'draining']),
    checks: Type.Object({
      database: Type.Enum(['ok', 'read-only', 'unreachable']),
      redis: Type.Enum(['ok', 'unreachable']),
    }),
    degraded: Type.Array(Type.String(), {
      description: 'Unavailable dependencies that the service can run without.',
    }),
    version: Type.String(),
  },
  { $id: 'Readiness' },
)

const errorSchema = Type.Object({ error: Type.String() }, { $id: 'HealthPortError' })
const malformedRequestSchema = Type.Null({
  description: 'The data that the client sent is not an HTTP request.',
})
const tags = ['operations' as const]

/** The routes of the health port, by path. */
export const healthPortSchemas = {
  '/healthz': {
    operationId: 'getLiveness',
    summary: 'Reports whether the process is running',
    tags,
    response: { 200: Type.Object({ status: Type.Literal('healthy') }), 400: malformedRequestSchema },
  },
  '/readyz': {
    operationId: 'getReadiness',
    summary: 'Reports whether the service can handle requests',
    tags,
    response: { 200: readinessSchema, 400: malformedRequestSchema, 500: errorSchema, 503: readinessSchema },
  },
  '/metrics': {
    operationId: 'getMetrics',
    summary: 'Returns metrics in the Prometheus text format',
    tags,
    produces: 'text/plain; version=0.0.4; charset=utf-8',
    response: { 200: Type.String(), 400: malformedRequestSchema, 500: errorSchema },
  },
}
