// Ends open invitations, so that a person who was removed cannot return with an older link. Call these functions under
// the lock of the memberships, which every new invitation needs too.
import type { AuditEvent } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Tx } from '../../platform/postgres/handles.ts'
import { normalizeEmail } from '../../platform/inputs/emails.ts'
import * as store from './withdrawn-invitations.store.ts'

const event = createEventBuilder<store.WithdrawnInvitation>({
  type: 'invitation',
  classes: { id: 'public', projectId: 'ignored', role: 'public', revokedAt: 'public' },
  nameOf: ({ role }) => role,
  projectOf: ({ projectId }) => projectId,
})

const createEvents = (rows: readonly store.WithdrawnInvitation[]): AuditEvent[] =>
  rows.map((after) => event('revoke', { before: { ...after, revokedAt: null }, after }))

/** Revokes the open invitations to one object for these e-mail addresses. Returns the events for the audit trail. */
export async function withdrawByEmails(
  tx: Tx,
  object: store.InvitedObject,
  emails: readonly string[],
): Promise<AuditEvent[]> {
  const wanted = emails.map(normalizeEmail).filter((email) => email !== '')
  return wanted.length === 0 ? [] : createEvents(await store.withdrawByEmail(tx, object, wanted))
}

/** Revokes the open invitations of removed members to the same object. Returns the events for the audit trail. */
export const withdrawOfMembers = async (
  tx: Tx,
  object: store.InvitedObject,
  userIds: readonly string[],
): Promise<AuditEvent[]> =>
  userIds.length === 0 ? [] : withdrawByEmails(tx, object, await store.listUserEmails(tx, userIds))

/** Revokes the open invitations of a removed member to the same object. Returns the events for the audit trail. */
export const withdrawOfMember = (
  tx: Tx,
  member: store.InvitedObject & { userId: string },
): Promise<AuditEvent[]> => withdrawOfMembers(tx, member, [member.userId])

/** Revokes the open invitations that offer a tenant role. Returns the events for the audit trail. */
export const withdrawOfRole = async (
  tx: Tx,
  { name, ...object }: { projectId: string; tenantId: string; name: string },
): Promise<AuditEvent[]> => createEvents(await store.withdrawByRole(tx, object, name))
