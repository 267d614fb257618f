import type { Resolvers } from '../../generated/graphql.ts'
import { loadRow } from '../../platform/graphql/loaders.ts'
import type { Tenant2ApplicationsService } from './tenant2applications.service.ts'

/** Creates the GraphQL resolvers for the rows that define which tenants may use which applications. */
export function createTenant2ApplicationsResolvers(service: Tenant2ApplicationsService) {
  return {
    Query: {
      tenant2Applications: (_parent, { tenantId, applicationId, ...args }) =>
        service.list({ tenantId, applicationId }, args),
      tenant2Application: (_parent, { id }, context) =>
        loadRow(context, 'tenant2Application', id, service.findMany),
    },
    Mutation: {
      createTenant2Application: (_parent, { input }, { actor }) => service.create(actor, input),
      updateTenant2Application: (_parent, { id, input }, { actor }) => service.update(actor, id, input),
      deleteTenant2Application: (_parent, { id, expectedRevision }, { actor }) =>
        service.delete(actor, id, expectedRevision),
    },
  } satisfies Resolvers
}
