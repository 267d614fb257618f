// A deployment specification describes what runs for an application in an environment. This feature manages
// specifications, and wakes deployments that were scaled to zero. backends/ receives heartbeats, and
// platform/orchestrator/ contains the orchestrator.
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { createIdFinder } from '../../policy/scopes.ts'
import type { BackendsApi } from '../backends/index.ts'
import { createDeploymentOperations } from './deployment-operations.service.ts'
import { createDeploymentMetrics } from './deployments.metrics.ts'
import { createDeploymentsResolvers } from './deployments.resolvers.ts'
import { registerDeploymentRoutes } from './deployments.routes.ts'
import { type FindDeps, createDeploymentFinder } from './find.service.ts'
import { createReadinessService } from './readiness.service.ts'
import { type SpecificationsDeps, createSpecificationsService } from './specifications.service.ts'
import { type WakeDeps, createWakeService } from './wake.service.ts'

type Deps = SpecificationsDeps &
  FindDeps &
  Omit<WakeDeps, 'find' | 'metrics' | 'times'> & { backends: BackendsApi; metrics: Metrics }

export const deployments = defineFeature({
  name: 'deployments',
  role: 'api',
  sdl: readSdl(import.meta.url, './deployments.graphql'),
  scopes: {
    DEPLOYMENT_SPECIFICATION: {
      noun: 'deployment specification',
      view: 'DEPLOYMENT_READ',
      find: createIdFinder('deployment_specifications', { application: 'application_id' }),
    },
  },
  constraints: {
    deployment_specifications_deployment_key: [
      'conflict',
      'the application already has a deployment specification for this environment',
      'input.environmentId',
    ],
    deployment_specifications_application_fkey: ['not_found', 'application not found'],
    deployment_specifications_environment_fkey: ['not_found', 'environment not found'],
    deployment_wakes_specification_fkey: ['conflict', 'the deployment is not scale-to-zero eligible'],
  },
  create: (deps: Deps) => {
    const find = createDeploymentFinder(deps)
    const wake = createWakeService({ ...deps, find, metrics: createDeploymentMetrics(deps.metrics) })
    const readiness = createReadinessService({ find, backends: deps.backends })
    return {
      resolvers: createDeploymentsResolvers(
        createSpecificationsService(deps),
        createDeploymentOperations({ ...deps, wake, readiness }),
      ),
      routes: (server) => registerDeploymentRoutes(server, { wake, readiness }),
      api: {},
    }
  },
})
