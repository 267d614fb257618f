import type { Resolvers } from '../../generated/graphql.ts'
import { load, groupByKeys } from '../../platform/graphql/loaders.ts'
import type { EnvironmentsService } from './environments.service.ts'

/** Creates the GraphQL resolvers for environments. */
export function createEnvironmentsResolvers(service: EnvironmentsService) {
  return {
    Query: {
      environments: (_parent, { projectId, ...args }) => service.list([projectId], args),
      environment: (_parent, { id }) => service.get(id),
    },
    Project: {
      environments: (project, args, context) =>
        load(context, `Project.environments ${JSON.stringify(args)}`, project.id, async (ids) =>
          groupByKeys(ids, await service.list(ids, args), (environment) => environment.projectId),
        ),
    },
  } satisfies Resolvers
}
