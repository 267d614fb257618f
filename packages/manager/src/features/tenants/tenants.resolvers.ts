import type { Resolvers } from '../../generated/graphql.ts'
import type { GraphqlContext } from '../../policy/guard-graphql.ts'
import { batched, batchedRow, grouped } from '../../platform/graphql/batch.ts'
import type { TenantsService } from './tenants.service.ts'

/** GraphQL for tenants, and the way from a row of a tenant to it. */
export function createTenantsResolvers(service: TenantsService) {
  const tenantOf = (row: { tenantId: string }, _args: object, context: GraphqlContext) =>
    batchedRow(context, 'tenant', row.tenantId, service.findMany)
  return {
    Query: {
      tenants: (_parent, { projectSlug, ...args }, { actor }) =>
        service.listByProjectSlug(actor, projectSlug, args),
      tenant: (_parent, { projectId, slug }) => service.getBySlug(projectId, slug),
    },
    Mutation: {
      createTenant: (_parent, { projectId, input }, { actor }) => service.create(actor, projectId, input),
      updateTenant: (_parent, { id, input }, { actor }) => service.update(actor, id, input),
      deleteTenant: (_parent, { id }, { actor }) => service.delete(actor, id),
    },
    Project: {
      tenants: (project, args, context) =>
        batched(context, `Project.tenants ${JSON.stringify(args)}`, project.id, async (ids) =>
          grouped(ids, await service.list(context.actor, ids, args), (tenant) => tenant.projectId),
        ),
    },
    Tenant2Application: { tenant: tenantOf },
    User2Tenant: { tenant: tenantOf },
    TenantRoleDefinition: { tenant: tenantOf },
  } satisfies Resolvers
}
