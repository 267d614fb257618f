import { type RawBuilder, sql } from 'kysely'
import type { Queries, Reads, Tx } from '../../platform/postgres/handles.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPages } from '../../platform/lists/page.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'
import type { InvitationState } from './invitation-rules.pure.ts'

/** An invitation. The hash of its token is never read. */
export type Invitation = RevisionFields & {
  id: string
  projectId: string
  tenantId: string | null
  applicationId: string | null
  email: string
  role: string
  requireSameEmail: boolean
  inviterId: string
  createdAt: string
  expiresAt: string
  acceptedAt: string | null
  acceptorId: string | null
  revokedAt: string | null
}

const columns = [
  'id',
  'projectId',
  'tenantId',
  'applicationId',
  'email',
  'role',
  'requireSameEmail',
  'inviterId',
  'createdAt',
  'expiresAt',
  'acceptedAt',
  'acceptorId',
  'revokedAt',
  ...revisionColumns,
] as const

export const invitationFields: ListFields = {
  id: { column: 'id', match: 'id' },
  email: { column: 'email', match: 'text' },
  role: { column: 'role', match: 'exact' },
  inviterId: { column: 'inviterId', match: 'id' },
  createdAt: { column: 'createdAt', match: 'time' },
  expiresAt: { column: 'expiresAt', match: 'time' },
}

const isUnused = sql<boolean>`invitations.accepted_at is null and invitations.revoked_at is null`
const stateConditions: Record<InvitationState, RawBuilder<boolean>> = {
  OPEN: sql<boolean>`(${isUnused} and invitations.expires_at > now())`,
  ACCEPTED: sql<boolean>`invitations.accepted_at is not null`,
  REVOKED: sql<boolean>`invitations.revoked_at is not null`,
  EXPIRED: sql<boolean>`(${isUnused} and invitations.expires_at <= now())`,
}
const isForProject = sql<boolean>`(invitations.tenant_id is null and invitations.application_id is null)`

export type Parent = { column: 'projectId' | 'tenantId' | 'applicationId'; id: string }

/** Returns a page of the invitations to one project, tenant or application. */
export function listInvitations(
  db: Reads,
  parent: Parent,
  state: InvitationState | null,
  page: Page,
): Promise<Invitation[]> {
  const conditions = [
    ...(parent.column === 'projectId' ? [isForProject] : []),
    ...(state === null ? [] : [stateConditions[state]]),
  ]
  return fetchPages(db, {
    table: 'invitations',
    columns,
    page,
    parent: parent.column,
    parentIds: [parent.id],
    ...(conditions.length > 0 && { where: sql<boolean>`${sql.join(conditions, sql` and `)}` }),
  })
}

/** Returns the project of a tenant or an application, or undefined if the object does not exist. */
export async function findProjectId(
  tx: Tx,
  table: 'tenants' | 'applications',
  id: string,
): Promise<string | undefined> {
  const row = await tx.selectFrom(table).select('projectId').where('id', '=', id).executeTakeFirst()
  return row?.projectId
}

/** Serializes new invitations in a project, so that their number stays valid until the transaction ends. */
export async function lockProject(tx: Tx, projectId: string): Promise<void> {
  await tx.selectFrom('projects').select('id').where('id', '=', projectId).forNoKeyUpdate().execute()
}

/**
 * Counts the open invitations of the project, in total and of one inviter. Stops at `limit` in total, so that the
 * statement stays bounded.
 */
export async function countOpen(
  tx: Tx,
  { projectId, inviterId, limit }: { projectId: string; inviterId: string; limit: number },
): Promise<{ total: number; ofInviter: number }> {
  const { rows } = await sql<{ total: number; ofInviter: number }>`
    select count(*)::int as total, (count(*) filter (where inviter_id = ${inviterId}))::int as "ofInviter" from (
      select inviter_id from invitations where project_id = ${projectId} and ${isUnused} and expires_at > now()
      limit ${limit}) as open`.execute(tx)
  return rows[0] ?? { total: 0, ofInviter: 0 }
}

/**
 * Returns the time until the inviter may create another invitation, if at most `limit` are permitted in an hour; 0 if
 * the inviter may create one now. Ended invitations count too.
 */
export async function getInviterWaitMs(tx: Tx, inviterId: string, limit: number): Promise<number> {
  const { rows } = await sql<{ waitMs: number }>`
    select (extract(epoch from created_at + interval '1 hour' - now()) * 1000)::float8 as "waitMs" from invitations
    where inviter_id = ${inviterId} and created_at > now() - interval '1 hour'
    order by created_at desc offset ${limit - 1} limit 1`.execute(tx)
  return rows[0]?.waitMs ?? 0
}

export type NewInvitation = Pick<
  Invitation,
  'id' | 'projectId' | 'tenantId' | 'applicationId' | 'email' | 'role' | 'requireSameEmail' | 'inviterId'
> & { tokenHash: Buffer; days: number }

/** Inserts an invitation that expires after a number of days, by the clock of the database. */
export function insertInvitation(tx: Tx, { days, ...values }: NewInvitation): Promise<Invitation> {
  return tx
    .insertInto('invitations')
    .values({ ...values, expiresAt: sql<string>`now() + make_interval(days => ${days})` })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** An invitation. The flag is computed with the clock of the database. */
export type DatedInvitation = Invitation & { isExpired: boolean }

// `clock_timestamp()` and not `now()`: the statement may have waited for a lock since the transaction started.
const isExpired = sql<boolean>`expires_at <= clock_timestamp()`.as('isExpired')

export function findByTokenHash(db: Reads, tokenHash: Buffer): Promise<DatedInvitation | undefined> {
  return db
    .selectFrom('invitations')
    .select(columns)
    .select(isExpired)
    .where('tokenHash', '=', tokenHash)
    .executeTakeFirst()
}

export function findInvitation(tx: Tx, id: string): Promise<Invitation | undefined> {
  return tx.selectFrom('invitations').select(columns).where('id', '=', id).executeTakeFirst()
}

/** Returns an invitation and locks its row until the transaction ends. */
export async function lockInvitation(tx: Tx, id: string): Promise<DatedInvitation | undefined> {
  await tx.selectFrom('invitations').select('id').where('id', '=', id).forUpdate().execute()
  // A separate statement computes the flag after the lock has been acquired.
  return tx
    .selectFrom('invitations')
    .select(columns)
    .select(isExpired)
    .where('id', '=', id)
    .executeTakeFirst()
}

export function markAccepted(tx: Tx, id: string, acceptorId: string): Promise<Invitation> {
  return tx
    .updateTable('invitations')
    .set({ acceptedAt: sql`now()`, acceptorId, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export function markRevoked(tx: Tx, id: string): Promise<Invitation> {
  return tx
    .updateTable('invitations')
    .set({ revokedAt: sql`now()`, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** The objects and the person that an invitation names. */
export type Named = {
  projectName: string
  projectSlug: string
  tenantName: string | null
  tenantSlug: string | null
  applicationName: string | null
  applicationSlug: string | null
  inviterName: string
  inviterEmail: string
}

/** Returns the names of the objects and of the inviter, or undefined if the invitation does not exist anymore. */
export function findNames(db: Reads, id: string): Promise<Named | undefined> {
  return db
    .selectFrom('invitations as i')
    .innerJoin('projects as p', 'p.id', 'i.projectId')
    .innerJoin('users as u', 'u.id', 'i.inviterId')
    .leftJoin('tenants as t', 't.id', 'i.tenantId')
    .leftJoin('applications as a', 'a.id', 'i.applicationId')
    .select([
      'p.name as projectName',
      'p.slug as projectSlug',
      't.name as tenantName',
      't.slug as tenantSlug',
      'a.name as applicationName',
      'a.slug as applicationSlug',
      sql<string>`coalesce(nullif(u.external_name, ''), u.external_username)`.as('inviterName'),
      'u.externalEmail as inviterEmail',
    ])
    .where('i.id', '=', id)
    .executeTakeFirst()
}

/** Deletes some of the invitations that ended more than `days` days ago. Returns their number. */
export async function deleteEnded(db: Queries, days: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from invitations where id = any (array(
      select id from invitations where ended_at <= now() - make_interval(days => ${days})
      order by ended_at limit ${limit} for update skip locked))`.execute(db)
  return Number(numAffectedRows ?? 0n)
}
