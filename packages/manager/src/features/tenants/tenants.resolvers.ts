import type { Resolvers } from '../../generated/graphql.ts'
import { groupByKeys, load, loadRow } from '../../platform/graphql/loaders.ts'
import type { TenantsService } from './tenants.service.ts'

export function createTenantsResolvers(service: TenantsService) {
  return {
    Query: {
      tenants: (_parent, { projectSlug, ...args }, { actor }) =>
        service.listByProjectSlug(actor, projectSlug, args),
      tenant: (_parent, { projectId, slug }) => service.getBySlug(projectId, slug),
      tenantById: (_parent, { id }, context) => loadRow(context, 'tenant', id, service.findMany),
    },
    Mutation: {
      createTenant: (_parent, { projectId, input }, { actor }) => service.create(actor, projectId, input),
      updateTenant: (_parent, { id, input }, { actor }) => service.update(actor, id, input),
      deleteTenant: (_parent, { id, expectedRevision }, { actor }) =>
        service.delete(actor, id, expectedRevision),
    },
    Project: {
      tenants: (project, args, context) =>
        load(context, `Project.tenants ${JSON.stringify(args)}`, project.id, async (ids) =>
          groupByKeys(ids, await service.list(context.actor, ids, args), (tenant) => tenant.projectId),
        ),
    },
    Tenant: {
      myRole: async ({ id, projectId }, _args, { actor }) =>
        (await actor.readRolesIn(projectId)).tenantRoles.get(id) ?? null,
    },
  } satisfies Resolvers
}
