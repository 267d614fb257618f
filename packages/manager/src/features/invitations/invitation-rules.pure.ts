// Rules for the state of an invitation, and for the person who may accept it.
import { normalizeEmail } from '../../platform/inputs/emails.ts'

export const invitationStates = ['OPEN', 'ACCEPTED', 'REVOKED', 'EXPIRED'] as const
export type InvitationState = (typeof invitationStates)[number]

type Dates = { acceptedAt: string | null; revokedAt: string | null; expiresAt: string }

/** Returns the state of an invitation at a point in time. */
export function getState({ acceptedAt, revokedAt, expiresAt }: Dates, now: Date): InvitationState {
  if (acceptedAt !== null) return 'ACCEPTED'
  if (revokedAt !== null) return 'REVOKED'
  return new Date(expiresAt) <= now ? 'EXPIRED' : 'OPEN'
}

/** Whether two e-mail addresses are equal, ignoring surrounding spaces and the case of A-Z. */
export const isSameEmail = (one: string, other: string): boolean =>
  normalizeEmail(one) === normalizeEmail(other)

/** Whether a text can be an e-mail address. Only the message to the address shows whether it exists. */
export const isEmail = (text: string): boolean => /^[^\s@<>",;:]+@[^\s@<>",;:]+$/.test(text)

/** Returns the kind of object that an invitation is for, and the id of that object. */
export function getTarget(row: {
  projectId: string
  tenantId: string | null
  applicationId: string | null
}): { kind: 'project' | 'tenant' | 'application'; id: string } {
  if (row.tenantId !== null) return { kind: 'tenant', id: row.tenantId }
  if (row.applicationId !== null) return { kind: 'application', id: row.applicationId }
  return { kind: 'project', id: row.projectId }
}
