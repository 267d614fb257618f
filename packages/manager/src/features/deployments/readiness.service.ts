// Reports whether a deployment has live backends. A request costs two lookups: the deployment and its live
// backends.
import type { BackendsApi } from '../backends/index.ts'
import type { FindDeployment } from './find.service.ts'
import type { DeploymentKey } from './wakes.store.ts'

export type ReadinessService = ReturnType<typeof createReadinessService>
type Readiness = { ready: boolean; backends: number; retry_after_ms?: number }

const retryAfterMs = 1_000

/**
 * Serves proxy requests for one deployment. Both functions throw 404 for an unknown application or
 * environment.
 */
export function createReadinessService(deps: {
  find: FindDeployment
  backends: Pick<BackendsApi, 'countLive'>
}) {
  const { find, backends } = deps
  return {
    ready: async (key: DeploymentKey): Promise<Readiness> => {
      const liveCount = await backends.countLive(await find(key))
      const isReady = liveCount > 0
      return { ready: isReady, backends: liveCount, ...(isReady ? {} : { retry_after_ms: retryAfterMs }) }
    },

    deployment: async (key: DeploymentKey): Promise<{ scale_to_zero: boolean; healthy_backends: number }> => {
      const deployment = await find(key)
      return {
        scale_to_zero: deployment.scaleToZero === true,
        healthy_backends: await backends.countLive(deployment),
      }
    },
  }
}
