// This feature serves the health status on the API port. platform/http/health-server.ts serves the health port.
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
