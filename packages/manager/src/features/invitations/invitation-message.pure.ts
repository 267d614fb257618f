import type { Invitation, Named } from './invitations.store.ts'

/** Returns the body of the message, which has the same bytes in every attempt. */
export const buildInvitationMessage = (
  { id, projectId, tenantId, applicationId, email, role, createdAt, expiresAt }: Invitation,
  names: Named,
  link: string,
): Buffer =>
  Buffer.from(
    JSON.stringify({
      type: 'invitation.created',
      timestamp: createdAt,
      data: {
        id,
        email,
        link,
        role,
        expires_at: expiresAt,
        project: { id: projectId, name: names.projectName, slug: names.projectSlug },
        tenant: tenantId === null ? null : { id: tenantId, name: names.tenantName, slug: names.tenantSlug },
        application:
          applicationId === null
            ? null
            : { id: applicationId, name: names.applicationName, slug: names.applicationSlug },
        invited_by: { name: names.inviterName, email: names.inviterEmail },
      },
    }),
  )
