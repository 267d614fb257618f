import { type RawBuilder, sql } from 'kysely'
import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import type { Queries, Reads, Tx } from '../../platform/postgres/handles.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'

/** An application in an environment. */
export type Deployment = { applicationId: string; environmentId: string }
export type Target = Deployment & {
  registrationId: string
  projectId: string
  callbackUrl: string
  callbackToken: Buffer
  /** Null for a registration of the previous release. */
  signingSecret: Buffer | null
}
export type ListedBackend = {
  id: string
  project: string
  application: string
  environment: string
  machineUser: string
  callbackUrl: string
  version: string
  lastHeartbeat: string
  silentSeconds: number
  isLive: boolean
}

const maxTargets = 5
const formatInterval = (ms: number): RawBuilder<unknown> => sql`make_interval(secs => ${ms / 1_000})`

/** The first SQL condition costs very little and is sufficient for most rows. */
const isLive = (staleAfterMs: number): RawBuilder<unknown> =>
  sql`last_heartbeat > now() - ${formatInterval(staleAfterMs)} or backend_silence(last_heartbeat) < ${formatInterval(staleAfterMs)}`

/**
 * Returns every environment in which at least one of the applications is registered, and whether a live
 * backend exists there.
 */
export async function listDeployments(
  tx: Tx,
  applicationIds: readonly string[],
  staleAfterMs: number,
): Promise<(Deployment & { isLive: boolean })[]> {
  const { rows } = await sql<Deployment & { isLive: boolean }>`
    select application_id, r.environment_id, bool_or(m.enabled and (${isLive(staleAfterMs)})) as is_live
    from backend_registrations r join machine_users m on m.id = r.machine_user_id
    where application_id = any(${applicationIds}::uuid[])
    group by application_id, r.environment_id`.execute(tx)
  return rows
}

/**
 * Returns the live backends of the deployments in input order, most recent heartbeat first, limited per
 * deployment.
 */
export async function listLiveTargets(
  db: Reads,
  deployments: readonly Deployment[],
  staleAfterMs: number,
): Promise<Target[]> {
  const { rows } = await sql<Target>`
    select r.application_id, r.environment_id, r.id as registration_id, r.project_id, r.callback_url, r.callback_token,
      r.signing_secret
    from unnest(${deployments.map(({ applicationId }) => applicationId)}::uuid[],
      ${deployments.map(({ environmentId }) => environmentId)}::uuid[]) with ordinality
      as wanted (application_id, environment_id, position)
    cross join lateral (
      select own.* from backend_registrations own join machine_users m on m.id = own.machine_user_id and m.enabled
      where own.application_id = wanted.application_id and own.environment_id = wanted.environment_id
        and (${isLive(staleAfterMs)})
      order by own.last_heartbeat desc, own.id limit ${maxTargets}
    ) r
    order by wanted.position, r.last_heartbeat desc, r.id`.execute(db)
  return rows
}

/** Returns the ids of the registrations whose backend is live, in any order. */
export async function findLiveIds(
  db: Reads,
  ids: readonly string[],
  staleAfterMs: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select r.id from backend_registrations r join machine_users m on m.id = r.machine_user_id
    where r.id = any(${ids}::uuid[]) and m.enabled and (${isLive(staleAfterMs)})`.execute(db)
  return rows.map(({ id }) => id)
}

const maxCount = 1_000
// This prepared statement applies the same rule as `isLive`. Indexes find the registrations of a deployment and their
// machine users.
const countLiveStatement: PreparedStatement = {
  name: 'backends-count-live',
  kind: 'read',
  text: `
    select wanted.position::int, live.count
    from unnest($1::uuid[], $2::uuid[]) with ordinality as wanted (application_id, environment_id, position)
    cross join lateral (
      select count(*)::int as count
      from (
        select from backend_registrations own
        cross join lateral (select from machine_users m where m.id = own.machine_user_id and m.enabled limit 1) m
        where own.application_id = wanted.application_id and own.environment_id = wanted.environment_id
          and (own.last_heartbeat > now() - make_interval(secs => $3)
            or backend_silence(own.last_heartbeat) < make_interval(secs => $3))
        limit ${maxCount}
      ) counted
    ) live`,
}

/** Returns the number of live backends of each deployment, in input order, at most 1,000 each. */
export async function countLive(
  run: RunPrepared,
  deployments: readonly Deployment[],
  staleAfterMs: number,
): Promise<({ count: number } | null)[]> {
  const rows = await run<{ count: number; position: number }>(countLiveStatement, [
    deployments.map(({ applicationId }) => applicationId),
    deployments.map(({ environmentId }) => environmentId),
    staleAfterMs / 1_000,
  ])
  return orderByPosition<{ count: number }>(deployments.length, rows)
}

/**
 * Removes at most `limit` registrations that were silent for too long. Returns the number of removed rows.
 * The index serves the first condition. The second condition excludes periods in which no heartbeat could be
 * received. Locked rows are skipped.
 */
export async function deleteSilent(db: Queries, reapAfterMs: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with silent as (
      select id from backend_registrations
      where last_heartbeat < now() - ${formatInterval(reapAfterMs)} and backend_silence(last_heartbeat) > ${formatInterval(reapAfterMs)}
      order by last_heartbeat limit ${limit} for update skip locked
    )
    delete from backend_registrations r using silent where r.id = silent.id`.execute(db)
  return Number(numAffectedRows ?? 0n)
}

/** Returns the numbers of live and stale registrations. */
export async function countBackends(
  db: Reads,
  staleAfterMs: number,
): Promise<{ live: number; stale: number }> {
  const { rows } = await sql<{ live: number; total: number }>`
    select count(*) filter (where ${isLive(staleAfterMs)})::int as live, count(*)::int as total from backend_registrations
  `.execute(db)
  const { live = 0, total = 0 } = rows[0] ?? {}
  return { live, stale: total - live }
}

/**
 * Returns registrations with the names of their project, application, environment and machine user, ordered
 * by those names. If `projectId` is set, returns only registrations of that project.
 */
export async function listBackends(
  db: Reads,
  projectId: string | null,
  { staleAfterMs, limit }: { staleAfterMs: number; limit: number },
): Promise<ListedBackend[]> {
  const projectFilter = projectId === null ? sql`` : sql`where r.project_id = ${projectId}`
  const { rows } = await sql<ListedBackend>`
    select r.id, p.slug as project, a.slug as application, e.name as environment, m.name as machine_user,
      r.callback_url, r.version, r.last_heartbeat,
      greatest(0, extract(epoch from now() - r.last_heartbeat))::int as silent_seconds,
      backend_silence(r.last_heartbeat) < ${formatInterval(staleAfterMs)} as is_live
    from backend_registrations r
    join projects p on p.id = r.project_id
    join applications a on a.id = r.application_id
    join environments e on e.id = r.environment_id
    join machine_users m on m.id = r.machine_user_id
    ${projectFilter}
    order by p.slug, a.slug, e.sort_order, m.name, r.id limit ${limit}`.execute(db)
  return rows
}

/** Returns the id of the project with this slug, or undefined. */
export async function findProjectId(db: Reads, slug: string): Promise<string | undefined> {
  const row = await db.selectFrom('projects').select('id').where('slug', '=', slug).executeTakeFirst()
  return row?.id
}
