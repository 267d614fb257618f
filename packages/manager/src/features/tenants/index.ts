// This feature manages tenants, the customer organizations of a project. memberships/ manages members and roles, and
// applications/ manages the applications that are enabled for a tenant.
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { createIdFinder, createSlugFinder } from '../../policy/scopes.ts'
import { createTenantsResolvers } from './tenants.resolvers.ts'
import { type TenantsDeps, createTenantsService } from './tenants.service.ts'

/** Provides the GraphQL fields and the policy scopes for tenants. */
export const tenants = defineFeature({
  name: 'tenants',
  sdl: readSdl(import.meta.url, './tenants.graphql'),
  scopes: {
    TENANT: { noun: 'tenant', view: 'TENANT_READ', find: createIdFinder('tenants', { tenant: 'id' }) },
    TENANT_SLUG: { noun: 'tenant', view: 'TENANT_READ', find: createSlugFinder('tenants', 'tenantId') },
  },
  constraints: {
    tenants_project_id_slug_key: [
      'conflict',
      'the project already has a tenant with this slug',
      'input.slug',
    ],
    tenants_project_fkey: ['not_found', 'project not found'],
  },
  create: (deps: TenantsDeps) => {
    const service = createTenantsService(deps)
    return {
      resolvers: createTenantsResolvers(service),
      links: { Tenant: { noun: 'tenant', findMany: service.findMany } },
      api: {},
    }
  },
})
