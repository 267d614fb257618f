import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Invitation } from './invitations.store.ts'

/** Builds audit events. The store never returns the hash of the token, so audit rows cannot contain it. */
export const invitationEvent = createEventBuilder<Invitation>({
  type: 'invitation',
  classes: {
    id: 'public',
    projectId: 'ignored',
    tenantId: 'public',
    applicationId: 'public',
    email: 'sensitive',
    role: 'public',
    requireSameEmail: 'public',
    inviterId: 'public',
    createdAt: 'ignored',
    expiresAt: 'public',
    acceptedAt: 'public',
    acceptorId: 'public',
    revokedAt: 'public',
  },
  nameOf: ({ role }) => role,
  projectOf: ({ projectId }) => projectId,
})
