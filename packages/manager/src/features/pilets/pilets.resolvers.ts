import type { Resolvers } from '../../generated/graphql.ts'
import { createConnectionResolver } from '../../platform/graphql/connections.ts'
import { createContentCharge } from '../../platform/graphql/response-budget.ts'
import type { ListArgs } from '../../platform/lists/filters.ts'
import type { PackagesService } from './packages.service.ts'

/** Creates the GraphQL resolvers for pilets. Only the routes serve bytes. */
export function createPiletsResolvers(service: PackagesService) {
  return {
    Query: {
      piletPackages: (_parent, { projectId, enabled, ...args }, context) =>
        service.list({ projectId, enabled: enabled ?? null }, args, createContentCharge(context)),
      piletPackagesConnection: createConnectionResolver(
        (
          _parent,
          { projectId, enabled, ...args }: ListArgs & { projectId: string; enabled?: boolean | null },
        ) => service.listPage({ projectId, enabled: enabled ?? null }, args),
      ),
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
