import type { Resolvers } from '../../generated/graphql.ts'
import { badRequest } from '../../platform/errors.ts'
import { groupByKeys, load, loadRow } from '../../platform/graphql/loaders.ts'
import type { ApplicationsService } from './applications.service.ts'

/** Creates the GraphQL resolvers for applications. */
export function createApplicationsResolvers(service: ApplicationsService) {
  return {
    Query: {
      applications: (_parent, { projectSlug, ...args }, { actor }) =>
        service.listByProjectSlug(actor, projectSlug, args),
      application: (_parent, { projectId, slug }) => service.getBySlug(projectId, slug),
      applicationById: (_parent, { id }, context) => loadRow(context, 'application', id, service.findMany),
    },
    Mutation: {
      createApplication: (_parent, { projectId, input }, { actor }) =>
        service.create(actor, projectId, input),
      updateApplication: (_parent, { id, input }, { actor }) => service.update(actor, id, input),
      deleteApplication: (_parent, { id, expectedRevision }, { actor }) =>
        service.delete(actor, id, expectedRevision),
      promoteApplication: () => {
        throw badRequest('promoteApplication is deprecated: an application is defined once per project')
      },
      copyApplication: () => {
        throw badRequest(
          'copyApplication is deprecated: an application is defined once per project; enable it for a tenant with createTenant2Application',
        )
      },
    },
    Project: {
      applications: (project, args, context) =>
        load(context, `Project.applications ${JSON.stringify(args)}`, project.id, async (ids) =>
          groupByKeys(
            ids,
            await service.list(context.actor, ids, args),
            (application) => application.projectId,
          ),
        ),
    },
    Application: {
      myRole: async ({ id, projectId }, _args, { actor }) =>
        (await actor.readRolesIn(projectId)).applications.get(id) ?? null,
    },
  } satisfies Resolvers
}
