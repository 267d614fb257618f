import type { Resolvers } from '../../generated/graphql.ts'
import type { GraphqlContext } from '../../policy/guard-graphql.ts'
import { batchedRow } from '../../platform/graphql/batch.ts'
import type { ProjectsService } from './projects.service.ts'

/** GraphQL for projects, and the way from any row of a project to it. */
export function createProjectsResolvers(service: ProjectsService) {
  const projectOf = (row: { projectId: string }, _args: object, context: GraphqlContext) =>
    batchedRow(context, 'project', row.projectId, service.findMany)
  return {
    Query: {
      projects: (_parent, args, { actor }) => service.list(actor, args),
      project: (_parent, { slug }) => service.getBySlug(slug),
    },
    Mutation: {
      createProject: (_parent, { input }, { actor }) => service.create(actor, input),
      updateProject: (_parent, { id, input }, { actor }) => service.update(actor, id, input),
      deleteProject: (_parent, { id }, { actor }) => service.delete(actor, id),
    },
    Environment: { project: projectOf },
    Tenant: { project: projectOf },
    Application: { project: projectOf },
    User2Project: { project: projectOf },
  } satisfies Resolvers
}
