// Memberships: who has which role in a project, a tenant or an application, the grant rules, and the role definitions
// of tenants. What a role may do is not here (policy/permissions.ts).
import type { Feature } from '../../feature.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { Db } from '../../platform/db/database.ts'
import type { ConstraintMeanings } from '../../platform/db/db-errors.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { UsersApi } from '../users/index.ts'
import { createApplicationMembersService } from './application-members.service.ts'
import { createMembershipsResolvers } from './memberships.resolvers.ts'
import { type ProjectMembersService, createProjectMembersService } from './project-members.service.ts'
import { createTenantMembersService } from './tenant-members.service.ts'
import { createTenantRolesResolvers } from './tenant-roles.resolvers.ts'
import { type TenantRolesService, createTenantRolesService } from './tenant-roles.service.ts'

export type MembershipsApi = {
  addFirstOwner: ProjectMembersService['addFirstOwner']
  seedTenantRoles: TenantRolesService['seed']
}

const constraints: ConstraintMeanings = {
  user2projects_member_key: [
    'conflict',
    'the user is a member of the project already; change the role instead',
  ],
  user2projects_user_fkey: ['not_found', 'user not found'],
  user2projects_project_fkey: ['not_found', 'project not found'],
  user2tenants_member_key: [
    'conflict',
    'the user is a member of the tenant already; change the role instead',
  ],
  user2tenants_user_fkey: ['not_found', 'user not found'],
  user2tenants_role_fkey: ['conflict', 'the role definition is in use; give its members another role first'],
  user2applications_member_key: [
    'conflict',
    'the user is a member of the application already; change the role instead',
  ],
  user2applications_user_fkey: ['not_found', 'user not found'],
  user2applications_application_fkey: ['not_found', 'application not found'],
  user2tenants_tenant_fkey: ['not_found', 'tenant not found'],
  tenant_role_definitions_tenant_fkey: ['not_found', 'tenant not found'],
  tenant_role_definitions_name_key: ['conflict', 'the tenant has a role definition with this name already'],
}

export function createMemberships(deps: { db: Db; audit: Audit; users: UsersApi }): Feature<MembershipsApi> {
  const projectMembers = createProjectMembersService(deps)
  const tenantRoles = createTenantRolesService(deps)
  const members = createMembershipsResolvers({
    projectMembers,
    tenantMembers: createTenantMembersService(deps),
    applicationMembers: createApplicationMembersService(deps),
    users: deps.users,
  })
  const roles = createTenantRolesResolvers(tenantRoles)
  return {
    name: 'memberships',
    sdl: ['./memberships.graphql', './tenant-roles.graphql']
      .map((file) => readSdl(file, import.meta.url))
      .join('\n'),
    resolvers: {
      ...members,
      Query: { ...members.Query, ...roles.Query },
      Mutation: { ...members.Mutation, ...roles.Mutation },
    },
    constraints,
    api: { addFirstOwner: projectMembers.addFirstOwner, seedTenantRoles: tenantRoles.seed },
  }
}
