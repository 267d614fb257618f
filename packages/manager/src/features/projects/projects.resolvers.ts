import type { Resolvers } from '../../generated/graphql.ts'
import type { ProjectsService } from './projects.service.ts'

export function createProjectsResolvers(service: ProjectsService) {
  return {
    Query: {
      projects: (_parent, args, { actor }) => service.list(actor, args),
      project: (_parent, { slug }) => service.getBySlug(slug),
    },
    Mutation: {
      createProject: (_parent, { input }, { actor }) => service.create(actor, input),
      updateProject: (_parent, { id, input }, { actor }) => service.update(actor, id, input),
      deleteProject: (_parent, { id, expectedRevision }, { actor }) =>
        service.delete(actor, id, expectedRevision),
    },
    Project: {
      myRole: async ({ id }, _args, { actor }) => (await actor.readRolesIn(id)).projectRole,
    },
  } satisfies Resolvers
}
