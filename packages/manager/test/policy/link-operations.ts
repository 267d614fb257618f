// Fields that link one object to another. Each has its own policy.
import { type Operation, op } from './operation.ts'
import {
  applicationReaders,
  everyone,
  maintainers,
  members,
  projectRoles,
  tenantReaders,
  tenantStaff,
} from './principals.ts'

/** Fields that link one object to another. Each has its own policy. */
export const linkOperations: Operation[] = [
  op('Project.tenants', 'project', members, (t) => `{ project(slug: "${t.slug}") { tenants { id } } }`),
  op(
    'Project.applications',
    'project',
    members,
    (t) => `{ project(slug: "${t.slug}") { applications { id } } }`,
  ),
  op(
    'Project.environments',
    'project',
    projectRoles,
    (t) => `{ project(slug: "${t.slug}") { environments { id } } }`,
  ),
  op(
    'Environment.project',
    'environment',
    projectRoles,
    (t) => `{ environment(id: "${t.environmentId}") { project { id } } }`,
  ),
  op(
    'Tenant.project',
    'tenant',
    tenantReaders,
    (t) => `{ tenant(projectId: "${t.id}", slug: "${t.tenantSlug}") { project { id } } }`,
  ),
  op(
    'Application.project',
    'application',
    applicationReaders,
    (t) => `{ application(projectId: "${t.id}", slug: "${t.applicationSlug}") { project { id } } }`,
  ),
  op(
    'Tenant2Application.tenant',
    'row',
    tenantReaders,
    (t) => `{ tenant2Applications(tenantId: "${t.tenantId}") { tenant { id } } }`,
  ),
  op(
    'Tenant2Application.application',
    'row',
    tenantReaders,
    (t) => `{ tenant2Applications(tenantId: "${t.tenantId}") { application { id } } }`,
  ),
  op(
    'User2Project.user',
    'project',
    projectRoles,
    (t) => `{ user2projects(project: "${t.id}") { user { id } } }`,
  ),
  op(
    'User2Project.project',
    'project',
    projectRoles,
    (t) => `{ user2projects(project: "${t.id}") { project { id } } }`,
  ),
  op(
    'User2Tenant.user',
    'tenant',
    tenantStaff,
    (t) => `{ user2tenants(tenant: "${t.tenantId}") { user { id } } }`,
  ),
  op(
    'User2Tenant.tenant',
    'tenant',
    tenantStaff,
    (t) => `{ user2tenants(tenant: "${t.tenantId}") { tenant { id } } }`,
  ),
  op(
    'User2Application.user',
    'application',
    projectRoles,
    (t) => `{ user2applications(application: "${t.applicationId}") { user { id } } }`,
  ),
  op(
    'User2Application.application',
    'application',
    projectRoles,
    (t) => `{ user2applications(application: "${t.applicationId}") { application { id } } }`,
  ),
  op(
    'TenantRoleDefinition.tenant',
    'tenant',
    tenantReaders,
    (t) => `{ tenantRoleDefinitions(tenantId: "${t.tenantId}") { tenant { id } } }`,
  ),
  op('User.projectMemberships', 'system', everyone, () => '{ me { projectMemberships { id } } }'),
  op('User.tenantMemberships', 'system', everyone, () => '{ me { tenantMemberships { id } } }'),
  op('User.applicationMemberships', 'system', everyone, () => '{ me { applicationMemberships { id } } }'),
  op('AuditLog.user', 'project', maintainers, (t) => `{ auditLogs(projectID: "${t.id}") { user { id } } }`),
]
