// Health on the API port. The health port itself is not here (platform/http/health-server.ts).
import { defineFeature } from '../../feature.ts'
import type { Gate } from '../../platform/http/gate.ts'
import type { ReadinessProbe } from '../../platform/http/readiness.ts'
import { createHealthRoutes } from './health.routes.ts'

export const health = defineFeature({
  name: 'health',
  create: ({ readiness, gate }: { readiness: ReadinessProbe; gate: Gate }) => ({
    routes: createHealthRoutes(readiness, gate),
    api: {},
  }),
})
