import type { Resolvers } from '../../generated/graphql.ts'
import { responseBudget } from '../../platform/graphql/response-budget.ts'
import type { PackagesService } from './packages.service.ts'

/** Creates the GraphQL resolvers for pilets. Only the routes serve bytes. */
export function createPiletsResolvers(service: PackagesService) {
  return {
    Query: {
      piletPackages: (_parent, { projectId, enabled, ...args }, context) =>
        service.list({ projectId, enabled: enabled ?? null }, args, responseBudget(context)),
      piletPackage: (_parent, key) => service.find(key),
    },
    Mutation: {
      updatePiletPackage: (_parent, { description, enabled, ...key }, { actor }) =>
        service.update(actor, key, { description, enabled }),
      enablePiletPackage: (_parent, key, { actor }) => service.update(actor, key, { enabled: true }),
      disablePiletPackage: (_parent, key, { actor }) => service.update(actor, key, { enabled: false }),
    },
  } satisfies Resolvers
}
