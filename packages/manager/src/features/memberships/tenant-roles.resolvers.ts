import type { Resolvers } from '../../generated/graphql.ts'
import type { TenantRolesService } from './tenant-roles.service.ts'

export function createTenantRolesResolvers(service: TenantRolesService) {
  return {
    Query: {
      tenantRoleDefinitions: (_parent, { tenantId, ...args }) => service.list(tenantId, args),
    },
    Mutation: {
      createTenantRoleDefinition: (_parent, { tenantId, input }, { actor }) =>
        service.create(actor, tenantId, input),
      updateTenantRoleDefinition: (_parent, { id, input }, { actor }) => service.update(actor, id, input),
      deleteTenantRoleDefinition: (_parent, { id, expectedRevision }, { actor }) =>
        service.delete(actor, id, expectedRevision),
    },
  } satisfies Resolvers
}
