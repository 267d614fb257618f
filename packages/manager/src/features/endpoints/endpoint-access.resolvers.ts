import type { Resolvers } from '../../generated/graphql.ts'
import { batchedRow } from '../../platform/graphql/batch.ts'
import type { MachineUsersApi } from '../machine-users/index.ts'
import type { EndpointAccessService } from './endpoint-access.service.ts'
import type { EndpointsService } from './endpoints.service.ts'

/** GraphQL for the rows that let machine users call endpoints. */
export function createEndpointAccessResolvers(
  service: EndpointAccessService,
  endpoints: EndpointsService,
  machineUsers: MachineUsersApi,
) {
  return {
    Query: {
      machineUser2endpoints: (_parent, { endpoint, ...args }) => service.list(endpoint, args),
      machineUser2endpoint: (_parent, { endpoint, id }) => service.get(endpoint, id),
    },
    MachineUser2Endpoint: {
      machineUser: (row, _args, context) =>
        batchedRow(context, 'machine user', row.machineUserId, machineUsers.findMany),
      endpoint: (row, _args, context) => batchedRow(context, 'endpoint', row.endpointId, endpoints.findMany),
    },
    Mutation: {
      createMachineUser2Endpoint: (_parent, { input }, { actor }) => service.create(actor, input),
      updateMachineUser2Endpoint: (_parent, { id, input }, { actor }) => service.update(actor, id, input),
      deleteMachineUser2Endpoint: (_parent, { id }, { actor }) => service.delete(actor, id),
    },
  } satisfies Resolvers
}
