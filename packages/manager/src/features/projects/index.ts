// Projects: the unit everything else belongs to. Its members are not here (memberships/), nor its environments.
import type { Feature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { createProjectsResolvers } from './projects.resolvers.ts'
import { type ProjectsDeps, type ProjectsService, createProjectsService } from './projects.service.ts'

export type ProjectsApi = Pick<ProjectsService, 'getBySlug'>

export function createProjects(deps: ProjectsDeps): Feature<ProjectsApi> {
  const service = createProjectsService(deps)
  return {
    name: 'projects',
    sdl: readSdl('./projects.graphql', import.meta.url),
    resolvers: createProjectsResolvers(service),
    constraints: {
      projects_slug_key: ['conflict', 'a project with this slug exists already; choose another slug'],
    },
    api: service,
  }
}
