// SQL statements on the job table. Statements that change several rows lock them in id order, which prevents deadlocks.
// The statements are not named prepared statements, so they also work behind a transaction pooler that does not support
// prepared statements.
import type { Statement } from '../postgres/statements.ts'

/** Workers extend their leases every 3 s. */
const leaseInterval = `interval '10 seconds'`
const lockedJobs = `
  locked as materialized (
    select j.id from unnest($1::bigint[], $2::integer[]) as w (id, claims) join queued_jobs j using (id, claims)
    order by j.id for update of j
  )`

export const enqueue = `
    insert into queued_jobs (queue, owner, group_key, data, hidden_until)
    select $1, w.owner, w.group_key, w.data, now() + make_interval(secs => w.delay_ms / 1000.0)
    from unnest($2::text[], $3::text[], $4::jsonb[], $5::float8[]) as w (owner, group_key, data, delay_ms)`

/** Selects the first group with a waiting job after a position, and numbers the visit. */
const buildNextGroupSql = (owner: string, group: string, visit: string): string => `
  select j.owner, j.group_key, j.owner = any($4::text[]) as is_left_out, ${visit} as visit from queued_jobs j
  where j.queue = $1 and j.hidden_until is null and (j.owner, j.group_key) > (${owner}, ${group})
  order by j.owner, j.group_key limit 1`
// Sorts after every group key: group keys contain only ASCII letters, digits, '-' and '/'.
const lastGroup = `'~'`
// Limits the cost of a fetch, because a visit to a full group claims nothing.
const maxVisits = 100

/**
 * Jumps from group to group in the index of waiting jobs and skips all groups of excluded owners. Claims jobs up to
 * the limit of each group, and reads at most that many waiting or claimed jobs per group. A row without an id names
 * the group at which the fetch stopped with fewer jobs than requested.
 */
export const fetch: Statement = {
  kind: 'write',
  text: `
    with recursive visited as (
      (${buildNextGroupSql('$5', '$6', '1')})
      union all
      select n.* from visited v cross join lateral (
        ${buildNextGroupSql('v.owner', `case when v.is_left_out then ${lastGroup} else v.group_key end`, 'v.visit + 1')}
      ) n where v.visit < ${maxVisits}
    ), chosen as materialized (
      select w.id from visited v cross join lateral (
        select j.id from queued_jobs j
        where j.queue = $1 and j.owner = v.owner and j.group_key = v.group_key and j.hidden_until is null
        order by j.id
        limit least($7, $3 - (select count(*) from (
          select from queued_jobs h
          where h.queue = $1 and h.owner = v.owner and h.group_key = v.group_key and h.is_held limit $3) held))
        for update skip locked) w
      where not v.is_left_out limit $2
    ), fetched as (
      update queued_jobs j set hidden_until = now() + ${leaseInterval}, is_held = true, claims = j.claims + 1
      from chosen c where j.id = c.id
      returning j.id, j.claims, j.data, j.owner, j.group_key
    )
    select id, claims, data, owner, group_key as "group" from fetched
    union all
    select null, null, null, owner, group_key from visited
    where visit = ${maxVisits} and (select count(*) from chosen) < $2`,
}

export const finish: Statement = {
  kind: 'write',
  text: `with ${lockedJobs} delete from queued_jobs j using locked l where j.id = l.id returning j.id`,
}

export const touch: Statement = {
  kind: 'idempotent',
  text: `with ${lockedJobs} update queued_jobs j set hidden_until = now() + ${leaseInterval}
    from locked l where j.id = l.id and j.is_held returning j.id`,
}

export const release: Statement = {
  kind: 'idempotent',
  text: `with ${lockedJobs} update queued_jobs j set is_held = false, waiting_since = now(), hidden_until =
      case when $3::float8 > 0 then now() + make_interval(secs => $3::float8 / 1000 * (1 + random())) end
    from locked l where j.id = l.id`,
}

export const wake: Statement = {
  kind: 'idempotent',
  text: `
    with due as materialized (
      select id from queued_jobs where hidden_until <= now() order by hidden_until limit $1 for update skip locked
    )
    update queued_jobs j set hidden_until = null, is_held = false, waiting_since = j.hidden_until
    from due where j.id = due.id returning j.queue`,
}

export const adopt: Statement = { kind: 'idempotent', text: 'select queued_jobs_adopt()' }

export const backlog: Statement = {
  kind: 'read',
  text: `
    select q.queue, count(j.id)::integer as waiting,
      coalesce(extract(epoch from now() - min(j.waiting_since)), 0)::float8 as "oldestSeconds"
    from unnest($1::text[]) as q (queue) left join queued_jobs j on j.queue = q.queue and j.hidden_until is null
    group by q.queue`,
}
