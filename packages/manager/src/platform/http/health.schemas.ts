// Health as both ports report it.
import { Type } from 'typebox'

export const readinessSchema = Type.Object(
  {
    status: Type.Enum(['ready', 'unavailable', 'draining']),
    checks: Type.Object({
      database: Type.Enum(['ok', 'read-only', 'unreachable']),
      redis: Type.Enum(['ok', 'unreachable']),
    }),
    degraded: Type.Array(Type.String(), { description: 'What is missing without stopping the service.' }),
    version: Type.String(),
  },
  { $id: 'Readiness' },
)

const failed = Type.Object({ error: Type.String() }, { $id: 'HealthPortError' })
const malformed = Type.Null({ description: 'What was sent is no HTTP request.' })
const tags = ['operations' as const]

/** The routes of the health port, by path. */
export const healthPortSchemas = {
  '/healthz': {
    operationId: 'getLiveness',
    summary: 'Whether the process runs',
    tags,
    response: { 200: Type.Object({ status: Type.Literal('healthy') }), 400: malformed },
  },
  '/readyz': {
    operationId: 'getReadiness',
    summary: 'Whether the service can do its work',
    tags,
    response: { 200: readinessSchema, 400: malformed, 500: failed, 503: readinessSchema },
  },
  '/metrics': {
    operationId: 'getMetrics',
    summary: 'Measurements in the Prometheus text format',
    tags,
    produces: 'text/plain; version=0.0.4; charset=utf-8',
    response: { 200: Type.String(), 400: malformed, 500: failed },
  },
}
