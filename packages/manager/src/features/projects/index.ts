// This feature manages projects, which own all other objects. memberships/ manages their members, and environments/
// their environments.
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { createIdFinder } from '../../policy/scopes.ts'
import { createProjectsResolvers } from './projects.resolvers.ts'
import { type ProjectsDeps, type ProjectsService, createProjectsService } from './projects.service.ts'
import { findProjectTarget } from './projects.store.ts'

/** Lets other features find a project by its slug. */
export type ProjectsApi = Pick<ProjectsService, 'getIdBySlug'>

/** Provides the GraphQL fields and the policy scopes for projects. */
export const projects = defineFeature({
  name: 'projects',
  sdl: readSdl(import.meta.url, './projects.graphql'),
  scopes: {
    PROJECT: { noun: 'project', view: 'PROJECT_VIEW', find: createIdFinder('projects', { project: 'id' }) },
    PROJECT_SLUG: { noun: 'project', view: 'PROJECT_VIEW', find: findProjectTarget },
  },
  constraints: {
    projects_slug_key: [
      'conflict',
      'a project with this slug already exists; choose another slug',
      'input.slug',
    ],
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
