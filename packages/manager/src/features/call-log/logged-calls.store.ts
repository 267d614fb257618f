// Reading and counting logged calls. The log is large and has two indexes. By who called what: statements go from the
// pairs that have calls to their rows, and stop where they have enough. By endpoint and request id: one call is found.
import { type RawBuilder, sql } from 'kysely'
import { inPlace } from '../../platform/db/coalesce.ts'
import type { Db, Tx } from '../../platform/db/database.ts'

/** A logged call; of its contents only their sizes in bytes, null where there are none. */
export type LoggedCall = {
  id: string
  requestId: string | null
  createdAt: string
  endpointId: string
  applicationId: string
  machineUserId: string
  sourceIp: string
  method: string
  path: string
  targetUrl: string
  responseStatus: number | null
  durationMs: number | null
  transformed: boolean
  failure: string | null
  requestHeadersBytes: number | null
  requestBodyBytes: number | null
  responseHeadersBytes: number | null
  responseBodyBytes: number | null
}

/** What a row is found by. */
export type CallKey = Pick<LoggedCall, 'endpointId' | 'machineUserId' | 'createdAt' | 'id'>

type Header = { name: string; value: string }
export type CallContents = {
  requestHeaders: Header[]
  requestBody: string
  responseHeaders: Header[]
  responseBody: string
}

/**
 * Until the transaction ends. The planner knows how many calls a pair has on average; for one that has millions it
 * would read and sort them all.
 */
const byIndexAlone = sql`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`

/** Whether the application has the endpoint. */
export async function hasEndpoint(db: Db, applicationId: string, endpointId: string): Promise<boolean> {
  const row = await db
    .selectFrom('endpoints')
    .select('id')
    .where('id', '=', endpointId)
    .where('applicationId', '=', applicationId)
    .executeTakeFirst()
  return row !== undefined
}

type Wanted = { applicationId: string; endpointId: string | null }

const columns = sql`id, request_id, created_at, endpoint_id, application_id, machine_user_id, source_ip, method, path,
  target_url, response_status, duration_ms, transformed, failure,
  octet_length(request_headers::text) as request_headers_bytes, octet_length(request_body) as request_body_bytes,
  octet_length(response_headers::text) as response_headers_bytes, octet_length(response_body) as response_body_bytes`

/**
 * The newest calls of an application, or of one endpoint of it. They are calls of the pairs that called last: as many
 * pairs as rows are enough.
 */
export async function listCalls(
  tx: Tx,
  { applicationId, endpointId }: Wanted,
  limit: number,
): Promise<LoggedCall[]> {
  await byIndexAlone.execute(tx)
  const { rows } = await sql<LoggedCall>`
    select ${columns}
    from (
      select caller.application_id, l.*
      from (
        select e.application_id, c.endpoint_id, c.machine_user_id
        from endpoints e
        join esb_callers c on c.endpoint_id = e.id
        cross join lateral (
          select created_at, id from esb_audit_logs
          where endpoint_id = c.endpoint_id and machine_user_id = c.machine_user_id
          order by created_at desc, id desc limit 1
        ) last
        where e.application_id = ${applicationId} and (${endpointId}::uuid is null or e.id = ${endpointId}::uuid)
        order by last.created_at desc, last.id desc limit ${limit}
      ) caller
      cross join lateral (
        select * from esb_audit_logs
        where endpoint_id = caller.endpoint_id and machine_user_id = caller.machine_user_id
        order by created_at desc, id desc limit ${limit}
      ) l
      order by l.created_at desc, l.id desc limit ${limit}
    ) newest
    order by created_at desc, id desc`.execute(tx)
  return rows
}

/** The same of one request id. Callers choose them, so there may be many; of each endpoint the newest are enough. */
export async function listCallsOfRequest(
  tx: Tx,
  { applicationId, endpointId }: Wanted,
  requestId: string,
  limit: number,
): Promise<LoggedCall[]> {
  await byIndexAlone.execute(tx)
  const { rows } = await sql<LoggedCall>`
    select ${columns}
    from (
      select e.application_id, l.*
      from endpoints e
      cross join lateral (
        select * from esb_audit_logs
        where endpoint_id = e.id and request_id = ${requestId}
        order by created_at desc, id desc limit ${limit}
      ) l
      where e.application_id = ${applicationId} and (${endpointId}::uuid is null or e.id = ${endpointId}::uuid)
      order by l.created_at desc, l.id desc limit ${limit}
    ) newest
    order by created_at desc, id desc`.execute(tx)
  return rows
}

/** One part of the contents of calls, in the order of their keys; null where there is none. */
export async function findContents<Part extends keyof CallContents>(
  db: Db,
  part: Part,
  keys: readonly CallKey[],
): Promise<(CallContents[Part] | null)[]> {
  const { rows } = await sql<{ position: number; content: CallContents[Part] | null }>`
    select wanted.position::int, l.content
    from unnest(${keys.map((key) => key.endpointId)}::uuid[], ${keys.map((key) => key.machineUserId)}::uuid[],
        ${keys.map((key) => key.createdAt)}::timestamptz[], ${keys.map((key) => key.id)}::uuid[])
      with ordinality as wanted (endpoint_id, machine_user_id, created_at, id, position)
    cross join lateral (
      select ${sql.ref(part)} as content from esb_audit_logs l
      where l.endpoint_id = wanted.endpoint_id and l.machine_user_id = wanted.machine_user_id
        and l.created_at = wanted.created_at and l.id = wanted.id
      limit 1
    ) l`.execute(db)
  return inPlace(keys.length, rows).map((row) => row?.content ?? null)
}

/** How many calls of the endpoint are logged, up to the last that was served; stops at `most`. */
export const countByEndpoint = (tx: Tx, id: string, most: number): Promise<number> =>
  countCalls(tx, sql`endpoint_id = ${id}`, most)

/** How many calls of the machine user are logged, up to the last that was served; stops at `most`. */
export const countByMachineUser = (tx: Tx, id: string, most: number): Promise<number> =>
  countCalls(tx, sql`machine_user_id = ${id}`, most)

/**
 * How many calls of endpoints of the application are logged, up to the last that was served; stops at `most`. The
 * endpoints are locked first, because a first call waits for the lock of its endpoint alone.
 */
export async function countByApplication(tx: Tx, id: string, most: number): Promise<number> {
  await sql`select from endpoints where application_id = ${id} order by id for update`.execute(tx)
  return countCalls(tx, sql`endpoint_id in (select id from endpoints where application_id = ${id})`, most)
}

async function countCalls(tx: Tx, isWanted: RawBuilder<unknown>, most: number): Promise<number> {
  await byIndexAlone.execute(tx)
  // The inner limit keeps the planner from turning the walk along the pairs into a join with the whole log.
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count
    from (
      select
      from (select * from esb_callers where ${isWanted}) c
      cross join lateral (
        select from esb_audit_logs
        where endpoint_id = c.endpoint_id and machine_user_id = c.machine_user_id
          and created_at < c.served_until limit ${most}
      ) l
      limit ${most}
    ) counted`.execute(tx)
  return rows[0]?.count ?? 0
}
