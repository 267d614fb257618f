import { sql } from 'kysely'
import { inPlace } from '../../platform/postgres/coalesce.ts'
import type { Queries } from '../../platform/postgres/handles.ts'

/** A heartbeat for a registration, sent by this machine user. */
export type Heartbeat = { id: string; machineUserId: string }
/** `busy`: the row is locked by another transaction, or was gone a moment later. */
export type HeartbeatOutcome = 'accepted' | 'busy' | 'unknown' | 'foreign'

/**
 * Moves the last heartbeats of all these registrations in one statement, and returns what became of each, in this order.
 * Rows are locked in the order of their ids, so that statements of two processes never wait for each other in a circle;
 * those that somebody else has locked are left out, or waited for.
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
  return inPlace(heartbeats.length, rows).map((row) => row?.outcome ?? null)
}

/**
 * Notes that heartbeats are received now. If nothing was noted for longer than the pauses between two notes can be, that
 * time becomes the last outage, or a part of it where that ended a short time ago. Any number of processes may do it: who comes a moment later writes nothing.
 */
export async function noteReception(db: Queries): Promise<void> {
  await sql`
    update heartbeat_reception set
      outage_from = case when received_until >= now() - interval '30 seconds' then outage_from
        when outage_until > received_until - interval '10 minutes' then outage_from else received_until end,
      outage_until = case when received_until < now() - interval '30 seconds' then now() else outage_until end,
      received_until = now()
    where received_until < now() - interval '5 seconds'`.execute(db)
}
