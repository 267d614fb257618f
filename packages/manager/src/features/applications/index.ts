// Manages the applications of a project, and defines which tenants may use them. Other features manage their
// endpoints, triggers and settings (endpoints/, triggers/, settings/) and their members (memberships/).
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { createIdFinder, createSlugFinder } from '../../policy/scopes.ts'
import type { CallLogApi } from '../call-log/index.ts'
import { createApplicationsResolvers } from './applications.resolvers.ts'
import {
  type ApplicationsDeps,
  type ApplicationsService,
  createApplicationsService,
} from './applications.service.ts'
import { createTenant2ApplicationsResolvers } from './tenant2applications.resolvers.ts'
import {
  type Tenant2ApplicationsService,
  createTenant2ApplicationsService,
} from './tenant2applications.service.ts'
import { findByPair, findByTenantOrApplication } from './tenant2applications.store.ts'

/** Lets other features load applications, and the rows that enable applications for tenants, by id. */
export type ApplicationsApi = Pick<ApplicationsService, 'findMany'> & {
  findTenant2Applications: Tenant2ApplicationsService['findMany']
}

export const applications = defineFeature({
  name: 'applications',
  sdl: readSdl(import.meta.url, './applications.graphql', './tenant2applications.graphql'),
  scopes: {
    APPLICATION: {
      noun: 'application',
      view: 'APPLICATION_READ',
      find: createIdFinder('applications', { application: 'id' }),
    },
    APPLICATION_SLUG: {
      noun: 'application',
      view: 'APPLICATION_READ',
      find: createSlugFinder('applications', 'applicationId'),
    },
    TENANT2APPLICATION: {
      noun: 'tenant2Application',
      view: 'TENANT2APPLICATION_READ',
      find: createIdFinder('tenant2applications', { tenant: 'tenant_id', application: 'application_id' }),
    },
    TENANT2APPLICATION_PAIR: {
      noun: 'tenant2Application',
      view: 'TENANT2APPLICATION_READ',
      find: findByPair,
    },
    TENANT_OR_APPLICATION: {
      noun: 'tenant or application',
      view: 'TENANT_READ',
      find: findByTenantOrApplication,
    },
  },
  constraints: {
    applications_project_id_slug_key: [
      'conflict',
      'the project already has an application with this slug',
      'input.slug',
    ],
    applications_project_fkey: ['not_found', 'project not found'],
    tenant2applications_pair_key: [
      'conflict',
      'the tenant already has a row for this application; update it with updateTenant2Application',
    ],
    tenant2applications_application_fkey: ['not_found', 'application not found'],
    tenant2applications_tenant_fkey: ['not_found', 'tenant not found'],
  },
  create: (deps: Omit<ApplicationsDeps, 'countLoggedCalls'> & { callLog: CallLogApi }) => {
    const service = createApplicationsService({ ...deps, countLoggedCalls: deps.callLog.countByApplication })
    const rows = createTenant2ApplicationsService(deps)
    const applicationResolvers = createApplicationsResolvers(service)
    const rowResolvers = createTenant2ApplicationsResolvers(rows)
    const api: ApplicationsApi = { findMany: service.findMany, findTenant2Applications: rows.findMany }
    return {
      resolvers: {
        ...applicationResolvers,
        Query: { ...applicationResolvers.Query, ...rowResolvers.Query },
        Mutation: { ...applicationResolvers.Mutation, ...rowResolvers.Mutation },
      },
      links: { Application: { noun: 'application', findMany: service.findMany } },
      api,
    }
  },
})
