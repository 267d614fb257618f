import type { Resolvers } from '../../generated/graphql.ts'
import { load, loadRow } from '../../platform/graphql/loaders.ts'
import type { MachineCredentialsService } from './machine-credentials.service.ts'
import type { MachineUsersService } from './machine-users.service.ts'

export function createMachineUsersResolvers(
  service: MachineUsersService,
  credentials: MachineCredentialsService,
) {
  return {
    Query: {
      machineUsers: (_parent, { environment, ...args }) => service.list(environment, args),
      projectMachineUsers: (_parent, { projectId, ...args }) => service.listByProject(projectId, args),
      machineUsersToRotate: (_parent, { projectId, days, ...args }) =>
        service.listToRotate(projectId, days, args),
      machineUser: (_parent, { id }, context) => loadRow(context, 'machine user', id, service.findMany),
    },
    MachineUser: {
      lastUsedAt: ({ id }, _args, context) =>
        load(context, 'MachineUser.lastUsedAt', id, service.findLastUses),
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
