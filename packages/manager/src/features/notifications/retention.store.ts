// Deletes expired rows in batches. Each batch is found by index. Processes can run the statements concurrently, because
// they skip locked rows.
import { sql } from 'kysely'
import type { Queries, Tx } from '../../platform/postgres/handles.ts'

const partSize = 5_000

/** `isLast` is false if more rows may remain. */
export type Part = { isLast: boolean }
const partOf = (deleted: bigint | number | undefined): Part => ({ isLast: Number(deleted ?? 0) < partSize })

const sameRow = sql`r.tenant_id = gone.tenant_id and r.application_id = gone.application_id
  and r.user_id = gone.user_id and r.created_at = gone.created_at and r.notification_id = gone.notification_id`
const rowKey = sql`tenant_id, application_id, user_id, created_at, notification_id`

/** Deletes the next batch of expired recipients. The content is deleted with the first of its recipients. */
export async function deleteExpired(db: Queries): Promise<Part> {
  const { rows } = await sql<{ count: number }>`
    with gone as materialized (
      select ${rowKey} from notification_recipients where expires_at <= now()
      order by expires_at limit ${sql.lit(partSize)} for update skip locked
    ), contents as (
      delete from notifications n using (select distinct created_at, notification_id from gone) gone
      where n.created_at = gone.created_at and n.id = gone.notification_id
    ), deleted as (
      delete from notification_recipients r using gone where ${sameRow} returning 1
    )
    select count(*)::int as count from deleted`.execute(db)
  return partOf(rows[0]?.count)
}

/** Deletes the next batch of expired keys. */
export async function deleteExpiredKeys(db: Queries): Promise<Part> {
  const { numAffectedRows } = await sql`
    with gone as materialized (
      select tenant_id, application_id, key from notification_keys where expires_at <= now()
      order by expires_at limit ${sql.lit(partSize)} for update skip locked
    )
    delete from notification_keys k using gone
    where k.tenant_id = gone.tenant_id and k.application_id = gone.application_id and k.key = gone.key`.execute(
    db,
  )
  return partOf(numAffectedRows)
}

/** An erasure request. `until` is when the application was assigned to the tenant again, or infinity. */
export type Erasure = { id: string; tenantId: string; applicationId: string; until: string }

/**
 * Locks the oldest unlocked erasure request that is at least one minute old, so that emits in flight have ended. Rows
 * older than the current assignment are erased, or all rows if the application is not assigned.
 */
export async function lockErasure(tx: Tx): Promise<Erasure | undefined> {
  const { rows } = await sql<Erasure>`
    select e.id, e.tenant_id, e.application_id, coalesce((
      select ta.created_at::text from tenant2applications ta
      where ta.tenant_id = e.tenant_id and ta.application_id = e.application_id
    ), 'infinity') as until
    from notification_erasures e where e.requested_at <= now() - interval '1 minute'
    order by e.requested_at, e.id limit 1 for update of e skip locked`.execute(tx)
  return rows[0]
}

/** Deletes the next batch of rows of the tenant and application. */
export async function eraseRows(tx: Tx, { tenantId, applicationId, until }: Erasure): Promise<Part> {
  const { rows } = await sql<{ count: number }>`
    with gone as materialized (
      select ${rowKey} from notification_recipients
      where tenant_id = ${tenantId} and application_id = ${applicationId} and created_at < ${until}::timestamptz
      limit ${sql.lit(partSize)}
    ), contents as (
      delete from notifications n using (select distinct created_at, notification_id from gone) gone
      where n.created_at = gone.created_at and n.id = gone.notification_id
    ), deleted as (
      delete from notification_recipients r using gone where ${sameRow} returning 1
    )
    select count(*)::int as count from deleted`.execute(tx)
  return partOf(rows[0]?.count)
}

/** Deletes the next batch of keys of the tenant and application. A key is created 24 hours before it expires. */
export async function eraseKeys(tx: Tx, { tenantId, applicationId, until }: Erasure): Promise<Part> {
  const { numAffectedRows } = await sql`
    with gone as materialized (
      select key from notification_keys
      where tenant_id = ${tenantId} and application_id = ${applicationId}
        and expires_at - interval '24 hours' < ${until}::timestamptz
      limit ${sql.lit(partSize)}
    )
    delete from notification_keys k using gone
    where k.tenant_id = ${tenantId} and k.application_id = ${applicationId} and k.key = gone.key`.execute(tx)
  return partOf(numAffectedRows)
}

export async function deleteErasure(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('notificationErasures').where('id', '=', id).execute()
}
