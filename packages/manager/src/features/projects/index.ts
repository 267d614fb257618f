// Projects: the unit everything else belongs to. Its members are not here (memberships/), nor its environments.
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { byId } from '../../policy/scopes.ts'
import { createProjectsResolvers } from './projects.resolvers.ts'
import { type ProjectsDeps, type ProjectsService, createProjectsService } from './projects.service.ts'
import { bySlug } from './projects.store.ts'

export type ProjectsApi = Pick<ProjectsService, 'getBySlug'>

export const projects = defineFeature({
  name: 'projects',
  sdl: readSdl(import.meta.url, './projects.graphql'),
  scopes: {
    PROJECT: { noun: 'project', view: 'PROJECT_VIEW', find: byId('projects', { project: 'id' }) },
    PROJECT_SLUG: { noun: 'project', view: 'PROJECT_VIEW', find: bySlug },
  },
  constraints: {
    projects_slug_key: ['conflict', 'a project with this slug exists already; choose another slug'],
  },
  create: (deps: ProjectsDeps) => {
    const service = createProjectsService(deps)
    const api: ProjectsApi = service
    return {
      resolvers: createProjectsResolvers(service),
      links: { Project: { noun: 'project', findMany: service.findMany } },
      api,
    }
  },
})
