// This feature manages memberships, which are the roles of users in projects, tenants and applications. It contains the
// rules for granting roles, and the role definitions of tenants. policy/permissions.ts defines the permissions of a
// role.
import { defineFeature } from '../../feature.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import type { ConstraintMeanings } from '../../platform/postgres/db-errors.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { createIdFinder } from '../../policy/scopes.ts'
import type { UsersApi } from '../users/index.ts'
import { createApplicationMembersService } from './application-members.service.ts'
import { type InvitedMembersService, createInvitedMembersService } from './invited-members.service.ts'
import { type GroupRolesService, groupRolesService } from './group-roles.service.ts'
import { createGrantToUser } from './directory-grants.service.ts'
import { createMembershipsResolvers } from './memberships.resolvers.ts'
import { type ProjectMembersService, createProjectMembersService } from './project-members.service.ts'
import { createTenantMembersService } from './tenant-members.service.ts'
import { createTenantRolesResolvers } from './tenant-roles.resolvers.ts'
import { type TenantRolesService, createTenantRolesService } from './tenant-roles.service.ts'
import { createUserMembershipsService } from './user-memberships.service.ts'

export type { RuleObject } from './group-roles.service.ts'

/**
 * Functions for features that create projects and tenants, for invitations and for group rules. They run in the
 * transaction of the caller.
 */
export type MembershipsApi = {
  addFirstOwner: ProjectMembersService['addFirstOwner']
  seedTenantRoles: TenantRolesService['seed']
  invited: InvitedMembersService
  /** Roles that rules give to the members of groups. */
  groupRoles: GroupRolesService
}

const constraints: ConstraintMeanings = {
  user2projects_user_fkey: ['not_found', 'user not found'],
  user2projects_project_fkey: ['not_found', 'project not found'],
  user2tenants_user_fkey: ['not_found', 'user not found'],
  user2tenants_role_fkey: ['conflict', 'the role definition is in use; give its members another role first'],
  user2applications_user_fkey: ['not_found', 'user not found'],
  user2applications_application_fkey: ['not_found', 'application not found'],
  user2tenants_tenant_fkey: ['not_found', 'tenant not found'],
  tenant_role_definitions_tenant_fkey: ['not_found', 'tenant not found'],
  tenant_role_definitions_name_key: [
    'conflict',
    'the tenant already has a role definition with this name',
    'input.name',
  ],
}

/** Provides the GraphQL fields for memberships and for the role definitions of tenants. */
export const memberships = defineFeature({
  name: 'memberships',
  sdl: readSdl(import.meta.url, './memberships.graphql', './tenant-roles.graphql'),
  scopes: {
    TENANT_ROLE_DEFINITION: {
      noun: 'tenant role definition',
      view: 'TENANT_ROLE_READ',
      find: createIdFinder('tenant_role_definitions', { tenant: 'tenant_id' }),
    },
    USER2PROJECT: {
      noun: 'user2project',
      view: 'PROJECT_MEMBER_READ',
      find: createIdFinder('user2projects'),
    },
    USER2TENANT: {
      noun: 'user2tenant',
      view: 'TENANT_MEMBER_READ',
      find: createIdFinder('user2tenants', { tenant: 'tenant_id' }),
    },
    USER2APPLICATION: {
      noun: 'user2application',
      view: 'APPLICATION_MEMBER_READ',
      find: createIdFinder('user2applications', { application: 'application_id' }),
    },
  },
  constraints,
  create: ({ users, ...shared }: { db: Db; audit: Audit; users: UsersApi }) => {
    const deps = { ...shared, grantToUser: createGrantToUser({ db: shared.db, users }) }
    const projectMembers = createProjectMembersService(deps)
    const tenantRoles = createTenantRolesService(deps)
    const members = createMembershipsResolvers({
      projectMembers,
      tenantMembers: createTenantMembersService(deps),
      applicationMembers: createApplicationMembersService(deps),
      userMemberships: createUserMembershipsService(deps),
    })
    const roles = createTenantRolesResolvers(tenantRoles)
    const api: MembershipsApi = {
      addFirstOwner: projectMembers.addFirstOwner,
      seedTenantRoles: tenantRoles.seed,
      invited: createInvitedMembersService(),
      groupRoles: groupRolesService,
    }
    return {
      resolvers: {
        Query: { ...members.Query, ...roles.Query },
        Mutation: { ...members.Mutation, ...roles.Mutation },
        User: members.User,
      },
      api,
    }
  },
})
