// Lists every guarded operation of the schema with the principals who may use it, and a call. The expectations are
// derived from the documented rules, not from the code.
import { accessOperations } from './access-operations.ts'
import { createConnectionOperation } from './connection-operations.ts'
import { credentialOperations } from './credential-operations.ts'
import { endpointOperations } from './endpoint-operations.ts'
import { type Operation, type Rest, op } from './operation.ts'
import { invitationOperations } from './invitation-operations.ts'
import { linkOperations } from './link-operations.ts'
import { groupOperations } from './group-operations.ts'
import { scimOperations } from './scim-operations.ts'
import { settingsOperations } from './settings-operations.ts'
import { piletOperations } from './pilet-operations.ts'
import { deploymentOperations } from './deployment-operations.ts'
import { notificationOperations } from './notification-operations.ts'
import { triggerOperations } from './trigger-operations.ts'
import {
  applicationReaders,
  everyone,
  maintainers,
  members,
  projectRoles,
  tenantManagers,
  tenantReaders,
  tenantStaff,
} from './principals.ts'
import { fresh } from './world.ts'

const memberWriters = [...maintainers, ...tenantManagers]
const projectMember: Rest = { make: (world, target) => fresh.member(world, target, 'project') }
const tenantMember: Rest = { make: (world, target) => fresh.member(world, target, 'tenant') }
const applicationMember: Rest = { make: (world, target) => fresh.member(world, target, 'application') }
const user: Rest = { make: fresh.user }
const consumes: Rest = { consumes: true }

const queries: Operation[] = [
  op('Query.me', 'system', everyone, () => '{ me { id } }'),
  op('Query.users', 'system', everyone, () => '{ users { id } }'),
  op('Query.search', 'system', everyone, () => '{ search(text: "own") { isComplete hits { id } } }'),
  // The user shares no project with anyone, so only administrators can find this user.
  op('Query.user', 'system', everyone, (_, id) => `{ user(id: "${id}") { id } }`, {
    make: fresh.user,
    alwaysFailsWith: /^user not found$/,
  }),
  op(
    'Query.userProviderSearch',
    'system',
    [...maintainers, 'other owner'],
    () => '{ userProviderSearch(name: "a") { id } }',
  ),
  op('Query.projects', 'system', everyone, () => '{ projects { id } }'),
  op('Query.project', 'project', members, (t) => `{ project(slug: "${t.slug}") { id } }`),
  op('Query.environments', 'project', projectRoles, (t) => `{ environments(projectId: "${t.id}") { id } }`),
  op(
    'Query.environment',
    'environment',
    projectRoles,
    (t) => `{ environment(id: "${t.environmentId}") { id } }`,
  ),
  op('Query.tenants', 'project', members, (t) => `{ tenants(projectSlug: "${t.slug}") { id } }`),
  op(
    'Query.tenant',
    'tenant',
    tenantReaders,
    (t) => `{ tenant(projectId: "${t.id}", slug: "${t.tenantSlug}") { id } }`,
  ),
  op('Query.tenantById', 'tenant', tenantReaders, (t) => `{ tenantById(id: "${t.tenantId}") { id } }`),
  op('Query.applications', 'project', members, (t) => `{ applications(projectSlug: "${t.slug}") { id } }`),
  op(
    'Query.application',
    'application',
    applicationReaders,
    (t) => `{ application(projectId: "${t.id}", slug: "${t.applicationSlug}") { id } }`,
  ),
  op(
    'Query.applicationById',
    'application',
    applicationReaders,
    (t) => `{ applicationById(id: "${t.applicationId}") { id } }`,
  ),
  op(
    'Query.tenant2Application',
    'row',
    tenantReaders,
    (t) => `{ tenant2Application(id: "${t.tenant2ApplicationId}") { id } }`,
  ),
  op(
    'Query.tenant2Applications',
    'row',
    tenantReaders,
    (t) => `{ tenant2Applications(tenantId: "${t.tenantId}") { id } }`,
  ),
  op('Query.user2projects', 'project', projectRoles, (t) => `{ user2projects(project: "${t.id}") { id } }`),
  op(
    'Query.user2project',
    'project',
    projectRoles,
    (t, id) => `{ user2project(project: "${t.id}", id: "${id}") { id } }`,
    projectMember,
  ),
  op('Query.user2tenants', 'tenant', tenantStaff, (t) => `{ user2tenants(tenant: "${t.tenantId}") { id } }`),
  op(
    'Query.user2tenant',
    'tenant',
    tenantStaff,
    (t, id) => `{ user2tenant(tenant: "${t.tenantId}", id: "${id}") { id } }`,
    tenantMember,
  ),
  op(
    'Query.user2applications',
    'application',
    projectRoles,
    (t) => `{ user2applications(application: "${t.applicationId}") { id } }`,
  ),
  op(
    'Query.user2application',
    'application',
    projectRoles,
    (t, id) => `{ user2application(application: "${t.applicationId}", id: "${id}") { id } }`,
    applicationMember,
  ),
  op(
    'Query.tenantRoleDefinitions',
    'tenant',
    tenantReaders,
    (t) => `{ tenantRoleDefinitions(tenantId: "${t.tenantId}") { id } }`,
  ),
  op('Query.auditChain', 'project', maintainers, (t) => `{ auditChain(projectId: "${t.id}") { status } }`),
  op('Query.auditLogs', 'project', maintainers, (t) => `{ auditLogs(projectID: "${t.id}") { id } }`),
  op(
    'Query.verifyAuditChain',
    'project',
    maintainers,
    (t) => `{ verifyAuditChain(projectId: "${t.id}") { status } }`,
    // The matrix sends the calls concurrently, and a project has one verification at a time.
    { alwaysFailsWith: /^a verification for this project|^too many reports/ },
  ),
]

const mutations: Operation[] = [
  op(
    'Mutation.updateUserSystemRole',
    'system',
    [],
    (_, id) => `updateUserSystemRole(id: "${id}", role: "administrator") { id }`,
    user,
  ),
  op(
    'Mutation.createProject',
    'system',
    [],
    (_, id) => `createProject(input: {name: "x", slug: "${id}"}) { id }`,
  ),
  op(
    'Mutation.updateProject',
    'project',
    ['owner'],
    (t, id) => `updateProject(id: "${t.id}", input: {name: "${id}"}) { id }`,
  ),
  op('Mutation.deleteProject', 'project', ['owner'], (t) => `deleteProject(id: "${t.id}")`, consumes),
  op(
    'Mutation.createTenant',
    'project',
    maintainers,
    (t, id) => `createTenant(projectId: "${t.id}", input: {name: "x", slug: "${id}"}) { id }`,
  ),
  op(
    'Mutation.updateTenant',
    'tenant',
    maintainers,
    (t, id) => `updateTenant(id: "${t.tenantId}", input: {name: "${id}"}) { id }`,
  ),
  op('Mutation.deleteTenant', 'tenant', maintainers, (t) => `deleteTenant(id: "${t.tenantId}")`, consumes),
  op(
    'Mutation.createApplication',
    'project',
    maintainers,
    (t, id) => `createApplication(projectId: "${t.id}", input: {name: "x", slug: "${id}"}) { id }`,
  ),
  op(
    'Mutation.updateApplication',
    'application',
    maintainers,
    (t, id) => `updateApplication(id: "${t.applicationId}", input: {name: "${id}"}) { id }`,
  ),
  op(
    'Mutation.deleteApplication',
    'application',
    maintainers,
    (t) => `deleteApplication(id: "${t.applicationId}")`,
    consumes,
  ),
  op('Mutation.promoteApplication', 'system', everyone, () => 'promoteApplication', {
    alwaysFailsWith: /is deprecated/,
  }),
  op('Mutation.copyApplication', 'system', everyone, () => 'copyApplication', {
    alwaysFailsWith: /is deprecated/,
  }),
  op(
    'Mutation.createTenant2Application',
    'tenant',
    maintainers,
    (t, id) => `createTenant2Application(input: {tenantId: "${t.tenantId}", applicationId: "${id}"}) { id }`,
    { make: fresh.application },
  ),
  op(
    'Mutation.updateTenant2Application',
    'row',
    maintainers,
    (_, id) => `updateTenant2Application(id: "${id}", input: {enabled: false}) { id }`,
    { make: fresh.row },
  ),
  op(
    'Mutation.deleteTenant2Application',
    'row',
    maintainers,
    (_, id) => `deleteTenant2Application(id: "${id}")`,
    { make: fresh.row },
  ),
  op(
    'Mutation.addUserToProject',
    'project',
    maintainers,
    (t, id) => `addUserToProject(projectID: "${t.id}", userID: "${id}", role: "readonly") { id }`,
    user,
  ),
  op(
    'Mutation.updateUserProjectRole',
    'projectMembers',
    maintainers,
    (_, id) => `updateUserProjectRole(id: "${id}", role: "tester") { id }`,
    projectMember,
  ),
  op(
    'Mutation.removeUserFromProject',
    'projectMembers',
    maintainers,
    (_, id) => `removeUserFromProject(id: "${id}")`,
    projectMember,
  ),
  op(
    'Mutation.addUserToTenant',
    'tenant',
    memberWriters,
    (t, id) => `addUserToTenant(tenantID: "${t.tenantId}", userID: "${id}", roleName: "member") { id }`,
    user,
  ),
  op(
    'Mutation.updateUserTenantRole',
    'tenantMembers',
    memberWriters,
    (_, id) => `updateUserTenantRole(id: "${id}", roleName: "admin") { id }`,
    tenantMember,
  ),
  op(
    'Mutation.removeUserFromTenant',
    'tenantMembers',
    memberWriters,
    (_, id) => `removeUserFromTenant(id: "${id}")`,
    tenantMember,
  ),
  op(
    'Mutation.addUserToApplication',
    'application',
    maintainers,
    (t, id) =>
      `addUserToApplication(applicationID: "${t.applicationId}", userID: "${id}", role: "normal") { id }`,
    user,
  ),
  op(
    'Mutation.updateUserApplicationRole',
    'applicationMembers',
    maintainers,
    (_, id) => `updateUserApplicationRole(id: "${id}", role: "normal") { id }`,
    applicationMember,
  ),
  op(
    'Mutation.removeUserFromApplication',
    'applicationMembers',
    maintainers,
    (_, id) => `removeUserFromApplication(id: "${id}")`,
    applicationMember,
  ),
  op(
    'Mutation.createTenantRoleDefinition',
    'tenant',
    maintainers,
    (t, id) =>
      `createTenantRoleDefinition(tenantId: "${t.tenantId}", input: {name: "${id}", permissions: []}) { id }`,
  ),
  op(
    'Mutation.updateTenantRoleDefinition',
    'row',
    maintainers,
    (_, id) => `updateTenantRoleDefinition(id: "${id}", input: {permissions: ["invites"]}) { id }`,
    { make: fresh.role },
  ),
  op(
    'Mutation.deleteTenantRoleDefinition',
    'row',
    maintainers,
    (_, id) => `deleteTenantRoleDefinition(id: "${id}")`,
    { make: fresh.role },
  ),
].map((operation) => ({ ...operation, text: (target, id) => `mutation { ${operation.text(target, id)} }` }))

const listedOperations: Operation[] = [
  ...queries,
  ...mutations,
  ...linkOperations,
  ...invitationOperations,
  ...credentialOperations,
  ...groupOperations,
  ...scimOperations,
  ...settingsOperations,
  ...endpointOperations,
  ...piletOperations,
  ...triggerOperations,
  ...deploymentOperations,
  ...notificationOperations,
  ...accessOperations,
]

export const operations: Operation[] = [
  ...listedOperations,
  ...listedOperations.flatMap(createConnectionOperation),
]
