import type { Resolvers } from '../../generated/graphql.ts'
import { loadRow } from '../../platform/graphql/loaders.ts'
import type { UsersService } from './users.service.ts'

export function createUsersResolvers(service: UsersService) {
  // The request already contains the caller's row, but without the revision, which few requests need.
  const readUser = (context: object, id: string) => loadRow(context, 'user', id, service.findMany)
  return {
    Query: {
      me: (_parent, _args, { actor }) => actor.user,
      users: (_parent, args, { actor }) => service.list(actor, args),
      user: (_parent, { id }, { actor }) => service.get(actor, id),
      userProviderSearch: (_parent, { name, ...args }, { actor }) => service.search(actor, name, args),
    },
    User: {
      revision: async (user, _args, context) => user.revision ?? (await readUser(context, user.id)).revision,
      updatedAt: async (user, _args, context) =>
        user.updatedAt ?? (await readUser(context, user.id)).updatedAt,
    },
    Mutation: {
      updateUserSystemRole: (_parent, { id, role, expectedRevision }, { actor }) =>
        service.updateSystemRole(actor, id, role, expectedRevision),
    },
  } satisfies Resolvers
}
