// Applications of a project, and the rows that enable them for tenants. Their endpoints, triggers and settings are not
// here (endpoints/, triggers/, settings/), nor are their members (memberships/).
import type { Feature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { createApplicationsResolvers } from './applications.resolvers.ts'
import {
  type ApplicationsDeps,
  type ApplicationsService,
  createApplicationsService,
} from './applications.service.ts'
import { createTenant2ApplicationsResolvers } from './tenant2applications.resolvers.ts'
import {
  type Tenant2ApplicationsDeps,
  type Tenant2ApplicationsService,
  createTenant2ApplicationsService,
} from './tenant2applications.service.ts'

export type ApplicationsApi = Pick<ApplicationsService, 'findMany'>

export function createApplications(deps: ApplicationsDeps): Feature<ApplicationsApi> {
  const service = createApplicationsService(deps)
  return {
    name: 'applications',
    sdl: readSdl('./applications.graphql', import.meta.url),
    resolvers: createApplicationsResolvers(service),
    constraints: {
      applications_project_id_slug_key: [
        'conflict',
        'an application with this slug exists already in the project',
      ],
      applications_project_fkey: ['not_found', 'project not found'],
    },
    api: { findMany: service.findMany },
  }
}

export type Tenant2ApplicationsApi = Pick<Tenant2ApplicationsService, 'findMany'>

export function createTenant2Applications(deps: Tenant2ApplicationsDeps): Feature<Tenant2ApplicationsApi> {
  const service = createTenant2ApplicationsService(deps)
  return {
    name: 'tenant2applications',
    sdl: readSdl('./tenant2applications.graphql', import.meta.url),
    resolvers: createTenant2ApplicationsResolvers(service),
    constraints: {
      tenant2applications_pair_key: [
        'conflict',
        'the tenant has a row for this application already; update it with updateTenant2Application',
      ],
      tenant2applications_application_fkey: ['not_found', 'application not found'],
      tenant2applications_tenant_fkey: ['not_found', 'tenant not found'],
    },
    api: { findMany: service.findMany },
  }
}
