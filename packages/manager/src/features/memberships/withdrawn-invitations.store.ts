// Open invitations that end together with a membership or a tenant role. The feature invitations manages all others.
import { type RawBuilder, sql } from 'kysely'
import { type Tx, anyOf } from '../../platform/postgres/handles.ts'

/** The project, tenant or application that people are invited to. */
export type InvitedObject = { projectId: string; tenantId?: string | null; applicationId?: string | null }
export type WithdrawnInvitation = { id: string; projectId: string; role: string; revokedAt: string | null }

/** Returns the stored e-mail addresses of users. */
export async function listUserEmails(tx: Tx, userIds: readonly string[]): Promise<string[]> {
  const rows = await tx.selectFrom('users').select('externalEmail').where('id', '=', anyOf(userIds)).execute()
  return rows.map(({ externalEmail }) => externalEmail)
}

/** Revokes the open invitations to one object for normalized e-mail addresses. */
export const withdrawByEmail = (
  tx: Tx,
  object: InvitedObject,
  emails: readonly string[],
): Promise<WithdrawnInvitation[]> =>
  withdraw(tx, object, sql<boolean>`lower(email collate "C") = any (${[...emails]}::text[])`)

/** Revokes the open invitations that offer a role. */
export const withdrawByRole = (tx: Tx, object: InvitedObject, role: string): Promise<WithdrawnInvitation[]> =>
  withdraw(tx, object, sql<boolean>`role = ${role}`)

/** Reads at most the open invitations of the project, whose number is limited. */
async function withdraw(
  tx: Tx,
  { projectId, tenantId = null, applicationId = null }: InvitedObject,
  condition: RawBuilder<boolean>,
): Promise<WithdrawnInvitation[]> {
  const { rows } = await sql<WithdrawnInvitation>`
    update invitations set revoked_at = now(), updated_at = now()
    where project_id = ${projectId} and tenant_id is not distinct from ${tenantId}::uuid
      and application_id is not distinct from ${applicationId}::uuid
      and accepted_at is null and revoked_at is null and expires_at > now() and ${condition}
    returning id, project_id as "projectId", role, revoked_at as "revokedAt"`.execute(tx)
  return rows
}
