import type { Resolvers } from '../../generated/graphql.ts'
import type { AcceptanceService } from './acceptance.service.ts'
import type { InvitationsService } from './invitations.service.ts'
import type { InvitingService } from './inviting.service.ts'

type Services = { service: InvitationsService; inviting: InvitingService; acceptance: AcceptanceService }

export function createInvitationsResolvers({ service, inviting, acceptance }: Services) {
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
        inviting.inviteToProject(actor, projectID, input),
      inviteToTenant: (_parent, { tenantID, input }, { actor }) =>
        inviting.inviteToTenant(actor, tenantID, input),
      inviteToApplication: (_parent, { applicationID, input }, { actor }) =>
        inviting.inviteToApplication(actor, applicationID, input),
      revokeInvitation: (_parent, invitation, { actor }) => service.revoke(actor, invitation),
      acceptInvitation: (_parent, { token }, { actor }) => acceptance.accept(actor, token),
    },
    Invitation: { state: (invitation) => service.getState(invitation) },
  } satisfies Resolvers
}
