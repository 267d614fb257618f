// These statements read the daily counts, and update them with the changes that emits and marks have inserted.
import { sql } from 'kysely'
import type { Queries, Reads } from '../../platform/postgres/handles.ts'
import type { BatchResult } from './retention.store.ts'

export type NotificationDeliveryCount = {
  day: string
  emitted: number
  recipients: number
  seen: number
  read: number
}

/**
 * Returns the days of the range in order. Days without emits are omitted: they contain only marks on notifications
 * that were emitted before counting started.
 */
export async function listCounts(
  db: Reads,
  applicationId: string,
  { from, to }: { from: string; to: string },
): Promise<NotificationDeliveryCount[]> {
  const { rows } = await sql<NotificationDeliveryCount>`
    select day, emitted::float8 as emitted, recipients::float8 as recipients, seen::float8 as seen, read::float8 as read
    from notification_counts
    where application_id = ${applicationId} and day >= ${from}::timestamptz and day < ${to}::timestamptz and emitted > 0
    order by day`.execute(db)
  return rows
}

const batchSize = 10_000

/**
 * Adds the next batch of changes to the counts and deletes the changes, in one statement. Processes can run it
 * concurrently: they skip locked rows, and write the counts in the same order. Changes of deleted applications are
 * dropped.
 */
export async function addChanges(db: Queries): Promise<BatchResult> {
  const { rows } = await sql<{ count: number }>`
    with taken as materialized (
      delete from notification_count_changes where ctid = any (array(
        select ctid from notification_count_changes limit ${sql.lit(batchSize)} for update skip locked
      )) returning application_id, day, emitted, recipients, seen, read
    ), added as (
      insert into notification_counts as c (project_id, application_id, day, emitted, recipients, seen, read)
      select a.project_id, t.application_id, t.day, sum(t.emitted), sum(t.recipients), sum(t.seen), sum(t.read)
      from taken t join applications a on a.id = t.application_id
      group by 1, 2, 3 order by 2, 3
      on conflict (application_id, day) do update set emitted = c.emitted + excluded.emitted,
        recipients = c.recipients + excluded.recipients, seen = c.seen + excluded.seen, read = c.read + excluded.read
    )
    select count(*)::integer as count from taken`.execute(db)
  return { isLast: (rows[0]?.count ?? 0) < batchSize }
}

/** Deletes the next batch of counts for days that ended before the retention period. */
export async function deleteOldCounts(db: Queries, retentionDays: number): Promise<BatchResult> {
  const { numAffectedRows } = await sql`
    with old as materialized (
      select application_id, day from notification_counts
      where day < now() - make_interval(days => ${retentionDays}::integer + 1)
      order by day limit ${sql.lit(batchSize)} for update skip locked
    )
    delete from notification_counts c using old
    where c.application_id = old.application_id and c.day = old.day`.execute(db)
  return { isLast: Number(numAffectedRows ?? 0) < batchSize }
}
