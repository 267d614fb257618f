// These statements find the objects that the caller of a search may see, and the logged calls with a request id.
import { sql } from 'kysely'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'
import { type Candidate, maxCandidates, maxMembers } from './search.store.ts'

/** Maximum number of memberships of each kind whose objects a search covers if the caller is not an administrator. */
export const maxMemberships = 1_000
/** Maximum number of endpoints in whose calls a search looks for a request id. */
const maxEndpoints = 5_000

export type Membership = {
  kind: 'project' | 'tenant' | 'application'
  projectId: string
  /** Id of the project, tenant or application. */
  id: string
  /** Whether the role gives access to the object itself. A tenant role may lack the permission `apps.read`. */
  canRead: boolean
}

/**
 * Returns up to `maxMemberships` + 1 memberships of each kind. `projectId` restricts them to one project unless it is
 * null.
 */
export async function listMemberships(
  db: Reads,
  userId: string,
  projectId: string | null,
): Promise<Membership[]> {
  const condition = sql`m.user_id = ${userId} and (${projectId}::uuid is null or m.project_id = ${projectId}::uuid)
    order by m.project_id limit ${maxMemberships + 1}`
  const { rows } = await sql<Membership>`
    (select 'project' as kind, m.project_id, m.project_id as id, true as can_read
     from user2projects m where ${condition})
    union all
    (select 'tenant', m.project_id, m.tenant_id, (
       select 'apps.read' = any(d.permissions) from tenant_role_definitions d
       where d.tenant_id = m.tenant_id and d.name = m.role_name)
     from user2tenants m where ${condition})
    union all
    (select 'application', m.project_id, m.application_id, true from user2applications m where ${condition})`.execute(
    db,
  )
  return rows
}

/** Returns whether the projects have more members than a search reads. */
export async function hasMoreMembers(db: Reads, projectIds: readonly string[]): Promise<boolean> {
  const { rows } = await sql<{ hasMore: boolean }>`
    select exists (
      select from user2projects where project_id = any(${projectIds}::uuid[]) offset ${maxMembers}
    ) as has_more`.execute(db)
  return rows[0]?.hasMore === true
}

type FoundCalls = { calls: Candidate[]; isComplete: boolean }

const callColumns = sql`l.id, l.method || ' ' || left(l.path, 500) as title, l.request_id as subtitle, e.project_id,
  e.application_id, null::uuid as environment_id, e.id as endpoint_id, null::uuid as trigger_id, '{}'::text[] as texts`

/**
 * Returns the logged calls with this request id. Callers choose request ids, so calls in other projects may have the
 * same id. If there are few calls with the id, the statement reads all of them. Otherwise, it looks up the id in each
 * endpoint of the projects, so that calls of other projects neither hide a match nor delay the search.
 */
export async function findCallsByRequestId(
  tx: Tx,
  requestId: string,
  projectIds: 'all' | readonly string[],
): Promise<FoundCalls> {
  // If the planner expects many calls with the same id, it reads many unrelated calls of an endpoint. These settings
  // force it to look up the id in an index.
  await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
    set_config('enable_indexscan', 'on', true)`.execute(tx)
  const isSeen = projectIds === 'all' ? sql`true` : sql`e.project_id = any(${projectIds}::uuid[])`
  const { rows } = await sql<Candidate & { isSeen: boolean }>`
    select ${callColumns}, ${isSeen} as is_seen
    from (select * from esb_audit_logs where request_id = ${requestId} limit ${maxCandidates + 1}) l
    join endpoints e on e.id = l.endpoint_id`.execute(tx)
  const isWhole = rows.length <= maxCandidates
  if (isWhole || projectIds === 'all') return { calls: rows.filter((row) => row.isSeen), isComplete: isWhole }
  return findCallsByEndpoint(tx, requestId, projectIds)
}

/** Returns the calls to the newest endpoints of the projects. */
async function findCallsByEndpoint(
  tx: Tx,
  requestId: string,
  projectIds: readonly string[],
): Promise<FoundCalls> {
  const { rows: calls } = await sql<Candidate>`
    select ${callColumns}
    from (
      select id, project_id, application_id from endpoints where project_id = any(${projectIds}::uuid[])
      order by id desc limit ${maxEndpoints}
    ) e
    cross join lateral (
      select id, method, path, request_id from esb_audit_logs
      where endpoint_id = e.id and request_id = ${requestId}
      order by created_at desc limit ${maxCandidates + 1}
    ) l
    limit ${maxCandidates + 1}`.execute(tx)
  const { rows } = await sql<{ hasMore: boolean }>`
    select exists (
      select from endpoints where project_id = any(${projectIds}::uuid[]) offset ${maxEndpoints}
    ) as has_more`.execute(tx)
  return { calls, isComplete: calls.length <= maxCandidates && rows[0]?.hasMore !== true }
}
