import type { Resolvers } from '../../generated/graphql.ts'
import { groupByKeys, load } from '../../platform/graphql/loaders.ts'
import type { ApplicationMembersService } from './application-members.service.ts'
import type { ProjectMembersService } from './project-members.service.ts'
import type { TenantMembersService } from './tenant-members.service.ts'
import type { UserMembershipsService } from './user-memberships.service.ts'

export type Services = {
  projectMembers: ProjectMembersService
  tenantMembers: TenantMembersService
  applicationMembers: ApplicationMembersService
  userMemberships: UserMembershipsService
}

export function createMembershipsResolvers({
  projectMembers,
  tenantMembers,
  applicationMembers,
  userMemberships,
}: Services) {
  return {
    Query: {
      user2projects: (_parent, { project, ...args }) => projectMembers.list(project, args),
      user2project: (_parent, { project, id }) => projectMembers.get(project, id),
      user2tenants: (_parent, { tenant, ...args }) => tenantMembers.list(tenant, args),
      user2tenant: (_parent, { tenant, id }) => tenantMembers.get(tenant, id),
      user2applications: (_parent, { application, ...args }) => applicationMembers.list(application, args),
      user2application: (_parent, { application, id }) => applicationMembers.get(application, id),
    },
    Mutation: {
      addUserToProject: (_parent, { projectID, userID, role }, { actor }) =>
        projectMembers.add(actor, projectID, userID, role),
      updateUserProjectRole: (_parent, { role, ...member }, { actor }) =>
        projectMembers.updateRole(actor, member, role),
      removeUserFromProject: (_parent, member, { actor }) => projectMembers.remove(actor, member),
      addUserToTenant: (_parent, { tenantID, userID, roleName }, { actor }) =>
        tenantMembers.add(actor, tenantID, userID, roleName),
      updateUserTenantRole: (_parent, { roleName, ...member }, { actor }) =>
        tenantMembers.updateRole(actor, member, roleName),
      removeUserFromTenant: (_parent, member, { actor }) => tenantMembers.remove(actor, member),
      addUserToApplication: (_parent, { applicationID, userID, role }, { actor }) =>
        applicationMembers.add(actor, applicationID, userID, role),
      updateUserApplicationRole: (_parent, { role, ...member }, { actor }) =>
        applicationMembers.updateRole(actor, member, role),
      removeUserFromApplication: (_parent, member, { actor }) => applicationMembers.remove(actor, member),
    },
    User: {
      projectMemberships: (user, args, context) =>
        load(context, `User.projectMemberships ${JSON.stringify(args)}`, user.id, async (ids) =>
          groupByKeys(
            ids,
            await userMemberships.listProjects(context.actor, ids, args),
            ({ userId }) => userId,
          ),
        ),
      tenantMemberships: (user, args, context) =>
        load(context, `User.tenantMemberships ${JSON.stringify(args)}`, user.id, async (ids) =>
          groupByKeys(
            ids,
            await userMemberships.listTenants(context.actor, ids, args),
            ({ userId }) => userId,
          ),
        ),
      applicationMemberships: (user, args, context) =>
        load(context, `User.applicationMemberships ${JSON.stringify(args)}`, user.id, async (ids) =>
          groupByKeys(
            ids,
            await userMemberships.listApplications(context.actor, ids, args),
            ({ userId }) => userId,
          ),
        ),
    },
  } satisfies Resolvers
}
