// The statements that write the log of calls. Rows of calls that go on at the same time share a statement; columns
// travel as arrays. A row is found again by the log's index on who called what, whose columns are known from its beginning.
import { sql } from 'kysely'
import type { Tx } from '../../platform/postgres/handles.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'

/** A call as it begins. */
export type Call = {
  id: string
  requestId: string
  createdAt: string
  projectId: string
  endpointId: string
  machineUserId: string
  sourceIp: string
  method: string
  path: string
  targetUrl: string
  /** The caller has no access: nothing is served. */
  isRefused: boolean
}
type Header = { name: string; value: string }
/** What FULL adds. */
type CallContents = {
  requestHeaders: readonly Header[]
  requestBody: string
  responseHeaders: readonly Header[] | null
  responseBody: string | null
}
/** A call as it ends. */
export type EndedCall = {
  call: Call
  /** Null when the caller got no response. */
  status: number | null
  durationMs: number
  transformed: boolean
  /** What went wrong, as a text without values; null when nothing did. */
  failure: string | null
  contents: CallContents | null
}

const begun = 'id, created_at, endpoint_id, machine_user_id, source_ip, method, path, target_url, request_id'
// The beginning of a call does not wait for the disk: a crash of the database may lose it, a crash of this process does not. The
// setting counts for the transaction of this statement alone.
const withoutWaiting = `(select set_config('synchronous_commit', 'off', true)) = 'off'`
const insertStatement: PreparedStatement = {
  name: 'esb-calls-begin',
  kind: 'idempotent',
  size: 'quick',
  text: `insert into esb_audit_logs (${begun})
    select * from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[],
      $9::text[]) where ${withoutWaiting} on conflict do nothing`,
}

/** Writes the beginnings of calls. */
export async function insertCalls(run: RunPrepared, calls: readonly Call[]): Promise<void> {
  await run(insertStatement, beginnings(calls))
}

/**
 * Writes the beginning of a call, and who calls what, served until then; fails when either is gone. Both in one
 * transaction, which holds the endpoint and the machine user, so a deletion sees both or neither.
 */
export async function insertFirstCall(tx: Tx, call: Call, servedUntil: string): Promise<void> {
  // A concurrent change of the endpoint blocks this call, but not for long.
  await sql`select set_config('lock_timeout', '1s', true), set_config('synchronous_commit', 'off', true)`.execute(
    tx,
  )
  const { endpointId, machineUserId, projectId, isRefused: _isRefused, ...rest } = call
  // A new pair holds both by its foreign keys; one that is there already, perhaps for refused calls alone, does not.
  await sql`select from endpoints e, machine_users m where e.id = ${endpointId} and m.id = ${machineUserId}
    for key share`.execute(tx)
  await tx
    .insertInto('esbCallers')
    .values({ endpointId, machineUserId, projectId, servedUntil })
    .onConflict((conflict) =>
      conflict
        .columns(['endpointId', 'machineUserId'])
        .doUpdateSet({ servedUntil })
        .where('esbCallers.servedUntil', '<', servedUntil),
    )
    .execute()
  await tx
    .insertInto('esbAuditLogs')
    .values({ endpointId, machineUserId, ...rest })
    .execute()
}

const beginnings = (calls: readonly Call[]): unknown[] => [
  calls.map(({ id }) => id),
  calls.map(({ createdAt }) => createdAt),
  calls.map(({ endpointId }) => endpointId),
  calls.map(({ machineUserId }) => machineUserId),
  calls.map(({ sourceIp }) => sourceIp),
  calls.map(({ method }) => method),
  calls.map(({ path }) => path),
  calls.map(({ targetUrl }) => targetUrl),
  calls.map(({ requestId }) => requestId),
]

const ended = `l.endpoint_id = n.endpoint_id and l.machine_user_id = n.machine_user_id
      and l.created_at = n.created_at and l.id = n.id`
const updateStatement: PreparedStatement = {
  name: 'esb-calls-end',
  kind: 'idempotent',
  text: `update esb_audit_logs l
    set response_status = n.status, duration_ms = n.duration_ms, transformed = n.transformed, failure = n.failure
    from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::uuid[], $5::int[], $6::int[], $7::boolean[], $8::text[])
      as n (id, created_at, endpoint_id, machine_user_id, status, duration_ms, transformed, failure)
    where ${ended} returning 1 as ended`,
}
const updateContentsStatement: PreparedStatement = {
  name: 'esb-calls-end-with-contents',
  kind: 'idempotent',
  text: `update esb_audit_logs l
    set response_status = n.status, duration_ms = n.duration_ms, transformed = n.transformed, failure = n.failure,
      request_headers = n.request_headers, request_body = n.request_body,
      response_headers = n.response_headers, response_body = n.response_body
    from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::uuid[], $5::int[], $6::int[], $7::boolean[], $8::text[],
        $9::jsonb[], $10::text[], $11::jsonb[], $12::text[])
      as n (id, created_at, endpoint_id, machine_user_id, status, duration_ms, transformed, failure,
        request_headers, request_body, response_headers, response_body)
    where ${ended} returning 1 as ended`,
}

const json = (headers: readonly Header[] | null | undefined): string | null =>
  headers ? JSON.stringify(headers) : null

/** Writes the ends of calls, all with contents or all without; returns how many of them had a beginning. */
export async function updateCalls(run: RunPrepared, calls: readonly EndedCall[]): Promise<number> {
  const values: unknown[] = [
    calls.map(({ call }) => call.id),
    calls.map(({ call }) => call.createdAt),
    calls.map(({ call }) => call.endpointId),
    calls.map(({ call }) => call.machineUserId),
    calls.map(({ status }) => status),
    calls.map(({ durationMs }) => durationMs),
    calls.map(({ transformed }) => transformed),
    calls.map(({ failure }) => failure),
  ]
  if ((calls[0]?.contents ?? null) === null) return (await run(updateStatement, values)).length
  const contentsOf = <T>(read: (contents: CallContents | null) => T): T[] =>
    calls.map(({ contents }) => read(contents))
  const updated = await run(updateContentsStatement, [
    ...values,
    contentsOf((contents) => json(contents?.requestHeaders)),
    contentsOf((contents) => contents?.requestBody ?? null),
    contentsOf((contents) => json(contents?.responseHeaders)),
    contentsOf((contents) => contents?.responseBody ?? null),
  ])
  return updated.length
}
