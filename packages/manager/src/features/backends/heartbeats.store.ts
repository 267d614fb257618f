import { sql } from 'kysely'
import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import type { Queries } from '../../platform/postgres/handles.ts'

/** A heartbeat that a machine user sends for a registration. */
export type Heartbeat = { id: string; machineUserId: string }
/** `busy` means that another transaction has locked the row or just deleted it. */
export type HeartbeatOutcome = 'accepted' | 'busy' | 'unknown' | 'foreign'

/**
 * Updates the last heartbeat of the registrations in one statement. Returns the outcomes in input order. Rows are
 * locked in id order, so that statements of two processes cannot deadlock. Depending on `whenLocked`, the statement
 * skips rows that another transaction has locked, or waits for them.
 */
export async function recordHeartbeats(
  db: Queries,
  heartbeats: readonly Heartbeat[],
  whenLocked: 'skip' | 'wait',
): Promise<(HeartbeatOutcome | null)[]> {
  const { rows } = await sql<{ position: number; outcome: HeartbeatOutcome }>`
    with wanted as (
      select * from unnest(${heartbeats.map(({ id }) => id)}::uuid[],
        ${heartbeats.map(({ machineUserId }) => machineUserId)}::uuid[]) with ordinality
        as wanted (id, machine_user_id, position)
    ), owned as (
      select r.id from backend_registrations r join wanted using (id, machine_user_id)
      order by r.id for no key update of r ${whenLocked === 'skip' ? sql`skip locked` : sql``}
    ), moved as (
      update backend_registrations r set last_heartbeat = greatest(r.last_heartbeat, now())
      from owned where r.id = owned.id returning r.id
    )
    select wanted.position::int, case
      when r.id is null then 'unknown'
      when r.machine_user_id <> wanted.machine_user_id then 'foreign'
      when moved.id is null then 'busy'
      else 'accepted' end as outcome
    from wanted left join moved on moved.id = wanted.id left join backend_registrations r on r.id = wanted.id
  `.execute(db)
  return orderByPosition(heartbeats.length, rows).map((row) => row?.outcome ?? null)
}

/**
 * Records that heartbeats are being received. If the last record is too old, the time since then becomes the
 * last outage. If the previous outage ended recently, it is extended instead. Several processes can call this
 * function: calls within a few seconds write nothing.
 */
export async function recordReception(db: Queries): Promise<void> {
  await sql`
    update heartbeat_reception set
      outage_from = case when received_until >= now() - interval '30 seconds' then outage_from
        when outage_until > received_until - interval '10 minutes' then outage_from else received_until end,
      outage_until = case when received_until < now() - interval '30 seconds' then now() else outage_until end,
      received_until = now()
    where received_until < now() - interval '5 seconds'`.execute(db)
}
