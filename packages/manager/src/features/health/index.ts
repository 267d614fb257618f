// Health on the API port. The health port itself is not here (platform/http/health-server.ts).
import type { Feature } from '../../feature.ts'
import type { Gate } from '../../platform/http/gate.ts'
import type { ReadinessProbe } from '../../platform/readiness.ts'
import { createHealthRoutes } from './health.routes.ts'

export function createHealth(deps: { readiness: ReadinessProbe; gate: Gate }): Feature {
  return { name: 'health', routes: createHealthRoutes(deps.readiness, deps.gate), api: {} }
}
