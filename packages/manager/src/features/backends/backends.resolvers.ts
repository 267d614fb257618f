import type { Resolvers } from '../../generated/graphql.ts'
import { load } from '../../platform/graphql/loaders.ts'
import type { RegisteredBackendsService } from './registered-backends.service.ts'

/** Creates the GraphQL resolvers for registered backends. */
export function createBackendsResolvers(service: RegisteredBackendsService) {
  return {
    Query: {
      backends: (_parent, { applicationId, environmentId, ...args }) =>
        service.list({ applicationId, environmentId }, args),
    },
    Backend: {
      isLive: (backend, _args, context) => load(context, 'Backend.isLive', backend.id, service.findLiveness),
    },
  } satisfies Resolvers
}
