// Finds the deployments that proxy requests name. Concurrent requests share a statement, so a flood of
// requests for unknown applications costs only one statement per round trip.
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { notFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type DeploymentKey, type FoundDeployment, findDeployments } from './wakes.store.ts'

export type FindDeps = { database: Pick<Database, 'run'> }
export type FindDeployment = ReturnType<typeof createDeploymentFinder>

const environments: ReadonlySet<string> = new Set(['dev', 'qas', 'run'])

/** Returns a function that finds a deployment. It throws 404 for an unknown application or environment. */
export function createDeploymentFinder({ database }: FindDeps) {
  const find = createCoalescer<DeploymentKey, FoundDeployment>({
    getKey: ({ applicationId, environment }) => `${environment} ${applicationId}`,
    run: (keys) => findDeployments(database.run, keys),
  })
  return async ({ applicationId, environment }: DeploymentKey): Promise<FoundDeployment> => {
    const id = parseUuid(applicationId)
    if (!environments.has(environment)) throw notFound('Environment')
    const deployment = id === null ? null : await find({ applicationId: id, environment })
    if (deployment === null) throw notFound('Application')
    return deployment
  }
}
