import type { Resolvers } from '../../generated/graphql.ts'
import type { EndpointAccessService } from './endpoint-access.service.ts'

/** Creates the GraphQL resolvers for access rows, which allow machine users to call endpoints. */
export function createEndpointAccessResolvers(service: EndpointAccessService) {
  return {
    Query: {
      machineUser2endpoints: (_parent, { endpoint, ...args }) => service.list(endpoint, args),
      machineUser2endpoint: (_parent, { endpoint, id }) => service.get(endpoint, id),
    },
    Mutation: {
      createMachineUser2Endpoint: (_parent, { input }, { actor }) => service.create(actor, input),
      updateMachineUser2Endpoint: (_parent, { id, input }, { actor }) => service.update(actor, id, input),
      deleteMachineUser2Endpoint: (_parent, { id, expectedRevision }, { actor }) =>
        service.delete(actor, id, expectedRevision),
    },
  } satisfies Resolvers
}
