import type { Resolvers } from '../../generated/graphql.ts'
import type { AcceptanceService } from './acceptance.service.ts'
import type { InvitationsService } from './invitations.service.ts'

export function createInvitationsResolvers(service: InvitationsService, acceptance: AcceptanceService) {
  return {
    Query: {
      projectInvitations: (_parent, { project, ...args }) => service.listByProject(project, args),
      tenantInvitations: (_parent, { tenant, ...args }) => service.listByTenant(tenant, args),
      applicationInvitations: (_parent, { application, ...args }) =>
        service.listByApplication(application, args),
      invitation: (_parent, { token }, { actor }) => acceptance.preview(actor, token),
    },
    Mutation: {
      inviteToProject: (_parent, { projectID, input }, { actor }) =>
        service.inviteToProject(actor, projectID, input),
      inviteToTenant: (_parent, { tenantID, input }, { actor }) =>
        service.inviteToTenant(actor, tenantID, input),
      inviteToApplication: (_parent, { applicationID, input }, { actor }) =>
        service.inviteToApplication(actor, applicationID, input),
      revokeInvitation: (_parent, invitation, { actor }) => service.revoke(actor, invitation),
      acceptInvitation: (_parent, { token }, { actor }) => acceptance.accept(actor, token),
    },
    Invitation: { state: (invitation) => service.getState(invitation) },
  } satisfies Resolvers
}
