// Deletes expired rows in batches. Each batch is found by index. Processes can run the statements concurrently, because
// they skip locked rows.
import { sql } from 'kysely'
import type { Queries, Tx } from '../../platform/postgres/handles.ts'

const batchSize = 5_000

/** `isLast` is false if more rows may remain. */
export type BatchResult = { isLast: boolean }
const createBatchResult = (deletedCount: bigint | number | undefined): BatchResult => ({
  isLast: Number(deletedCount ?? 0) < batchSize,
})

const isSameRow = sql`r.tenant_id = gone.tenant_id and r.application_id = gone.application_id
  and r.user_id = gone.user_id and r.created_at = gone.created_at and r.notification_id = gone.notification_id`
const rowKey = sql`tenant_id, application_id, user_id, created_at, notification_id`

/** Deletes the next batch of expired recipients. The content is deleted with the first of its recipients. */
export async function deleteExpired(db: Queries): Promise<BatchResult> {
  const { rows } = await sql<{ count: number }>`
    with gone as materialized (
      select ${rowKey} from notification_recipients where expires_at <= now()
      order by expires_at limit ${sql.lit(batchSize)} for update skip locked
    ), contents as (
      delete from notifications n using (select distinct created_at, notification_id from gone) gone
      where n.created_at = gone.created_at and n.id = gone.notification_id
    ), deleted as (
      delete from notification_recipients r using gone where ${isSameRow} returning 1
    )
    select count(*)::int as count from deleted`.execute(db)
  return createBatchResult(rows[0]?.count)
}

/** Deletes the next batch of expired keys. */
export async function deleteExpiredKeys(db: Queries): Promise<BatchResult> {
  const { numAffectedRows } = await sql`
    with gone as materialized (
      select tenant_id, application_id, key from notification_keys where expires_at <= now()
      order by expires_at limit ${sql.lit(batchSize)} for update skip locked
    )
    delete from notification_keys k using gone
    where k.tenant_id = gone.tenant_id and k.application_id = gone.application_id and k.key = gone.key`.execute(
    db,
  )
  return createBatchResult(numAffectedRows)
}

/**
 * An erasure request. `until` is the time at which the application was assigned to the tenant again, or
 * infinity.
 */
export type Erasure = { id: string; tenantId: string; applicationId: string; until: string }

/**
 * Locks the oldest unlocked erasure request that is at least one minute old, so that emits in flight have
 * completed. Rows older than the current assignment are erased, or all rows if the application is not
 * assigned.
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

/** Deletes the next batch of notifications of the application in the tenant. */
export async function eraseRows(tx: Tx, { tenantId, applicationId, until }: Erasure): Promise<BatchResult> {
  const { rows } = await sql<{ count: number }>`
    with gone as materialized (
      select ${rowKey} from notification_recipients
      where tenant_id = ${tenantId} and application_id = ${applicationId} and created_at < ${until}::timestamptz
      limit ${sql.lit(batchSize)}
    ), contents as (
      delete from notifications n using (select distinct created_at, notification_id from gone) gone
      where n.created_at = gone.created_at and n.id = gone.notification_id
    ), deleted as (
      delete from notification_recipients r using gone where ${isSameRow} returning 1
    )
    select count(*)::int as count from deleted`.execute(tx)
  return createBatchResult(rows[0]?.count)
}

/**
 * Deletes the next batch of keys of the application in the tenant. A key is created 24 hours before it
 * expires.
 */
export async function eraseKeys(tx: Tx, { tenantId, applicationId, until }: Erasure): Promise<BatchResult> {
  const { numAffectedRows } = await sql`
    with gone as materialized (
      select key from notification_keys
      where tenant_id = ${tenantId} and application_id = ${applicationId}
        and expires_at - interval '24 hours' < ${until}::timestamptz
      limit ${sql.lit(batchSize)}
    )
    delete from notification_keys k using gone
    where k.tenant_id = ${tenantId} and k.application_id = ${applicationId} and k.key = gone.key`.execute(tx)
  return createBatchResult(numAffectedRows)
}

export async function deleteErasure(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('notificationErasures').where('id', '=', id).execute()
}
