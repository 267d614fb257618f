import type { Resolvers } from '../../generated/graphql.ts'
import type { UsersService } from './users.service.ts'

export function createUsersResolvers(service: UsersService) {
  return {
    Query: {
      me: (_parent, _args, { actor }) => actor.user,
      users: (_parent, args, { actor }) => service.list(actor, args),
      userProviderSearch: (_parent, { name, ...args }) => service.search(name, args),
    },
    Mutation: {
      updateUserSystemRole: (_parent, { id, role }, { actor }) => service.updateSystemRole(actor, id, role),
    },
  } satisfies Resolvers
}
