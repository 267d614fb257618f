// Environments are the stages of a project. deployments/ and machine-users/ manage the deployments and accounts in
// them.
import { defineFeature } from '../../feature.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { createIdFinder } from '../../policy/scopes.ts'
import { createEnvironmentsResolvers } from './environments.resolvers.ts'
import { type EnvironmentsService, createEnvironmentsService } from './environments.service.ts'

/** Creates the default environments of a new project. */
export type EnvironmentsApi = Pick<EnvironmentsService, 'createDefaults'>

export const environments = defineFeature({
  name: 'environments',
  sdl: readSdl(import.meta.url, './environments.graphql'),
  scopes: {
    ENVIRONMENT: { noun: 'environment', view: 'PROJECT_READ', find: createIdFinder('environments') },
  },
  create: (deps: { db: Db }) => {
    const service = createEnvironmentsService(deps)
    const api: EnvironmentsApi = service
    return {
      resolvers: createEnvironmentsResolvers(service),
      links: { Environment: { noun: 'environment', findMany: service.findMany } },
      api,
    }
  },
})
