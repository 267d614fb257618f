import type { Resolvers } from '../../generated/graphql.ts'
import type { MachineCredentialsService } from './machine-credentials.service.ts'
import type { MachineUsersService } from './machine-users.service.ts'

export function createMachineUsersResolvers(
  service: MachineUsersService,
  credentials: MachineCredentialsService,
) {
  return {
    Query: {
      machineUsers: (_parent, { environment, ...args }) => service.list(environment, args),
    },
    Mutation: {
      createMachineUserWithCredentials: (_parent, { environmentId, input }, { actor }) =>
        credentials.create(actor, environmentId, input),
      rotateMachineUserToken: (_parent, { id, expectedRevision }, { actor }) =>
        credentials.rotate(actor, id, expectedRevision),
      updateMachineUser: (_parent, { id, input }, { actor }) => service.update(actor, id, input),
      deleteMachineUser: (_parent, { id, expectedRevision }, { actor }) =>
        service.delete(actor, id, expectedRevision),
    },
  } satisfies Resolvers
}
