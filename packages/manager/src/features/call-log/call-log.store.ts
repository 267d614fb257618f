// These statements write the call log. Concurrent calls share a statement, which receives its columns as
// arrays. The update at the end of a call finds its row through the index on endpoint and machine user.
import { sql } from 'kysely'
import type { Tx } from '../../platform/postgres/handles.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'

/** The data of a call when it starts. */
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
  /** True if the caller has no access. Such a call is not forwarded. */
  isRefused: boolean
  /** True for a test call of a person. */
  isTest: boolean
}
type Header = { name: string; value: string }
/** The headers and bodies, which are stored only at log level FULL. */
type CallContents = {
  requestHeaders: readonly Header[]
  requestBody: string
  responseHeaders: readonly Header[] | null
  responseBody: string | null
}
/** The data of a call when it ends. */
export type EndedCall = {
  call: Call
  /** Null if the caller did not receive a response. */
  status: number | null
  durationMs: number
  transformed: boolean
  /** The cause of the failure, without values from the call; null if the call succeeded. */
  failure: string | null
  contents: CallContents | null
}

const startColumns =
  'id, created_at, endpoint_id, machine_user_id, source_ip, method, path, target_url, request_id'
// The first write of a call does not wait for the disk. A database crash can lose it, but a crash of this
// process cannot. The setting applies only to the transaction of this statement.
const asyncCommitCondition = `(select set_config('synchronous_commit', 'off', true)) = 'off'`
const insertStatement: PreparedStatement = {
  name: 'esb-calls-begin',
  kind: 'idempotent',
  size: 'quick',
  text: `insert into esb_audit_logs (${startColumns})
    select * from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[],
      $9::text[]) where ${asyncCommitCondition} on conflict do nothing`,
}

/** Writes the start of each call. */
export async function insertCalls(run: RunPrepared, calls: readonly Call[]): Promise<void> {
  await run(insertStatement, getStartValues(calls))
}

/**
 * Writes the start of a call and its pair of endpoint and machine user. The pair stores a time until which
 * its calls count as served. Fails if the endpoint or the machine user no longer exists. The transaction
 * locks both rows, so a deletion sees both the call and the pair, or neither.
 */
export async function insertFirstCall(tx: Tx, call: Call, servedUntil: string): Promise<void> {
  // A concurrent change to the endpoint blocks this call for at most 1 s. The transaction of a test call also appends
  // an audit row, so it waits for the disk.
  const durability = call.isTest ? sql`current_setting('synchronous_commit')` : 'off'
  await sql`select set_config('lock_timeout', '1s', true), set_config('synchronous_commit', ${durability}, true)`.execute(
    tx,
  )
  const { endpointId, machineUserId, projectId, isRefused: _isRefused, ...rest } = call
  // The foreign keys of a new pair lock both rows. An existing pair locks neither row. At this point, a pair
  // exists only if its previous calls were rejected.
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

const getStartValues = (calls: readonly Call[]): unknown[] => [
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

const isSameCall = `l.endpoint_id = n.endpoint_id and l.machine_user_id = n.machine_user_id
      and l.created_at = n.created_at and l.id = n.id`
const updateStatement: PreparedStatement = {
  name: 'esb-calls-end',
  kind: 'idempotent',
  text: `update esb_audit_logs l
    set response_status = n.status, duration_ms = n.duration_ms, transformed = n.transformed, failure = n.failure
    from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::uuid[], $5::int[], $6::int[], $7::boolean[], $8::text[])
      as n (id, created_at, endpoint_id, machine_user_id, status, duration_ms, transformed, failure)
    where ${isSameCall} returning 1 as ended`,
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
    where ${isSameCall} returning 1 as ended`,
}

const serializeHeaders = (headers: readonly Header[] | null | undefined): string | null =>
  headers ? JSON.stringify(headers) : null

/**
 * Writes the end of calls, either all with headers and bodies or all without them. Returns the number of
 * calls that had a row.
 */
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
  const mapContents = <T>(read: (contents: CallContents | null) => T): T[] =>
    calls.map(({ contents }) => read(contents))
  const updatedRows = await run(updateContentsStatement, [
    ...values,
    mapContents((contents) => serializeHeaders(contents?.requestHeaders)),
    mapContents((contents) => contents?.requestBody ?? null),
    mapContents((contents) => serializeHeaders(contents?.responseHeaders)),
    mapContents((contents) => contents?.responseBody ?? null),
  ])
  return updatedRows.length
}
