// This feature manages the applications of a project and defines which tenants may use them. Other features manage
// their endpoints, triggers, settings (endpoints/, triggers/, settings/) and members (memberships/).
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { byId, bySlug } from '../../policy/scopes.ts'
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
import { byPair, byTenantOrApplication } from './tenant2applications.store.ts'

/** Lets other features load applications, and the rows that enable them for tenants, by id. */
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
      find: byId('applications', { application: 'id' }),
    },
    APPLICATION_SLUG: {
      noun: 'application',
      view: 'APPLICATION_READ',
      find: bySlug('applications', 'application_id'),
    },
    TENANT2APPLICATION: {
      noun: 'tenant2Application',
      view: 'TENANT2APPLICATION_READ',
      find: byId('tenant2applications', { tenant: 'tenant_id', application: 'application_id' }),
    },
    TENANT2APPLICATION_PAIR: { noun: 'tenant2Application', view: 'TENANT2APPLICATION_READ', find: byPair },
    TENANT_OR_APPLICATION: {
      noun: 'tenant or application',
      view: 'TENANT_READ',
      find: byTenantOrApplication,
    },
  },
  constraints: {
    applications_project_id_slug_key: ['conflict', 'the project already has an application with this slug'],
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
    const own = createApplicationsResolvers(service)
    const rowResolvers = createTenant2ApplicationsResolvers(rows)
    const api: ApplicationsApi = { findMany: service.findMany, findTenant2Applications: rows.findMany }
    return {
      resolvers: {
        ...own,
        Query: { ...own.Query, ...rowResolvers.Query },
        Mutation: { ...own.Mutation, ...rowResolvers.Mutation },
      },
      links: { Application: { noun: 'application', findMany: service.findMany } },
      api,
    }
  },
})
