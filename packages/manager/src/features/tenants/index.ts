// Tenants: the customer organizations of a project. Their members and roles are not here (memberships/), nor are the
// applications enabled for them (applications/).
import type { Feature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { createTenantsResolvers } from './tenants.resolvers.ts'
import { type TenantsDeps, createTenantsService } from './tenants.service.ts'

export function createTenants(deps: TenantsDeps): Feature {
  return {
    name: 'tenants',
    sdl: readSdl('./tenants.graphql', import.meta.url),
    resolvers: createTenantsResolvers(createTenantsService(deps)),
    constraints: {
      tenants_project_id_slug_key: ['conflict', 'a tenant with this slug exists already in the project'],
      tenants_project_fkey: ['not_found', 'project not found'],
    },
    api: {},
  }
}
