// Environments: the stages of a project. What runs in them is not here (deployments/, machine-users/).
import type { Feature } from '../../feature.ts'
import type { Db } from '../../platform/db/database.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { createEnvironmentsResolvers } from './environments.resolvers.ts'
import { type EnvironmentsService, createEnvironmentsService } from './environments.service.ts'

export type EnvironmentsApi = Pick<EnvironmentsService, 'createDefaults' | 'findMany'>

export function createEnvironments(deps: { db: Db }): Feature<EnvironmentsApi> {
  const service = createEnvironmentsService(deps)
  return {
    name: 'environments',
    sdl: readSdl('./environments.graphql', import.meta.url),
    resolvers: createEnvironmentsResolvers(service),
    api: service,
  }
}
