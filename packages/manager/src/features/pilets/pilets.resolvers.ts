import type { Resolvers } from '../../generated/graphql.ts'
import { createContentCharge } from '../../platform/graphql/response-budget.ts'
import type { PackagesService } from './packages.service.ts'

/** Creates the GraphQL resolvers for pilets. Only the routes serve bytes. */
export function createPiletsResolvers(service: PackagesService) {
  return {
    Query: {
      piletPackages: (_parent, { projectId, enabled, ...args }, context) =>
        service.list({ projectId, enabled: enabled ?? null }, args, createContentCharge(context)),
      piletPackage: (_parent, key) => service.find(key),
    },
    Mutation: {
      updatePiletPackage: (_parent, { description, enabled, expectedRevision, ...key }, { actor }) =>
        service.update(actor, key, { description, enabled, expectedRevision }),
      enablePiletPackage: (_parent, { expectedRevision, ...key }, { actor }) =>
        service.update(actor, key, { enabled: true, expectedRevision }),
      disablePiletPackage: (_parent, { expectedRevision, ...key }, { actor }) =>
        service.update(actor, key, { enabled: false, expectedRevision }),
    },
  } satisfies Resolvers
}
