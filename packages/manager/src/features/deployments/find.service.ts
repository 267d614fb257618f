// Finding a deployment at the places that the proxy names. Requests that come together share a statement, so a flood for
// unknown applications costs as many statements as there are round trips.
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { notFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { type FoundDeployment, type Place, findDeployments } from './wakes.store.ts'

export type FindDeps = { database: Pick<Database, 'run'> }
export type FindDeployment = ReturnType<typeof createFindDeployment>

const environments: ReadonlySet<string> = new Set(['dev', 'qas', 'run'])

/** Returns a function that finds the deployment at a place; throws 404 for an unknown application or environment. */
export function createFindDeployment({ database }: FindDeps) {
  const find = createCoalesced<Place, FoundDeployment>({
    keyOf: ({ applicationId, environment }) => `${environment} ${applicationId}`,
    run: (places) => findDeployments(database.run, places),
  })
  return async ({ applicationId, environment }: Place): Promise<FoundDeployment> => {
    const id = parseUuid(applicationId)
    if (!environments.has(environment)) throw notFound('Environment')
    const found = id === null ? null : await find({ applicationId: id, environment })
    if (found === null) throw notFound('Application')
    return found
  }
}
