import type { Resolvers, ResolversParentTypes } from '../../generated/graphql.ts'
import { loadRow } from '../../platform/graphql/loaders.ts'
import type { ActivationService } from './activation.service.ts'
import { type Deactivations, isActive } from './lifecycle.pure.ts'
import type { UsersService } from './users.service.ts'

export function createUsersResolvers(service: UsersService, activation: ActivationService) {
  // The request already contains the caller's row, but without the revision and the lifecycle, which few requests need.
  const readUser = (context: object, id: string) => loadRow(context, 'user', id, service.findMany)
  const readLifecycle = async (
    context: object,
    user: ResolversParentTypes['User'],
  ): Promise<Deactivations> => {
    const { deactivatedByScimAt, deactivatedByAdministratorAt } = user
    return deactivatedByScimAt === undefined || deactivatedByAdministratorAt === undefined
      ? readUser(context, user.id)
      : { deactivatedByScimAt, deactivatedByAdministratorAt }
  }
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
      provisioned: async (user, _args, context) =>
        user.isProvisioned ?? (await readUser(context, user.id)).isProvisioned,
      active: async (user, _args, context) => isActive(await readLifecycle(context, user)),
      deactivatedByScimAt: async (user, _args, context) =>
        (await readLifecycle(context, user)).deactivatedByScimAt,
      deactivatedByAdministratorAt: async (user, _args, context) =>
        (await readLifecycle(context, user)).deactivatedByAdministratorAt,
    },
    Mutation: {
      updateUserSystemRole: (_parent, { id, role, expectedRevision }, { actor }) =>
        service.updateSystemRole(actor, id, role, expectedRevision),
      deactivateUser: (_parent, user, { actor }) => activation.deactivate(actor, user),
      reactivateUser: (_parent, user, { actor }) => activation.reactivate(actor, user),
    },
  } satisfies Resolvers
}
