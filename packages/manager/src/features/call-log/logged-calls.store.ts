// These statements read and count logged calls. The log is large and has two indexes. With the index on
// endpoint and machine user, a statement reads the rows of each pair and stops when it has enough rows. The
// index on endpoint and request id finds individual calls.
import { type RawBuilder, sql } from 'kysely'
import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'
import type { TimeWindow } from '../../platform/inputs/time-window.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { createWindowSql } from '../../platform/lists/log-page.ts'
import { createFilterSql } from '../../platform/lists/page.ts'
import { createColumnQualifier, createOrderSql } from '../../platform/lists/position.ts'

/**
 * A logged call with the sizes of its headers and bodies in bytes. A size is null if the part was not stored.
 */
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
  isTest: boolean
  failure: string | null
  requestHeadersBytes: number | null
  requestBodyBytes: number | null
  responseHeadersBytes: number | null
  responseBodyBytes: number | null
}

/** The columns that identify a row. */
export type CallKey = Pick<LoggedCall, 'endpointId' | 'machineUserId' | 'createdAt' | 'id'>

type Header = { name: string; value: string }
export type CallContents = {
  requestHeaders: Header[]
  requestBody: string
  responseHeaders: Header[]
  responseBody: string
}

/**
 * Forces index scans until the transaction ends. The planner knows only the average number of calls per pair. For a
 * pair with millions of calls, it would otherwise read and sort all of them.
 */
export const forceIndexScans = sql`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`

/** Returns whether the endpoint belongs to the application. */
export async function hasEndpoint(db: Reads, applicationId: string, endpointId: string): Promise<boolean> {
  const row = await db
    .selectFrom('endpoints')
    .select('id')
    .where('id', '=', endpointId)
    .where('applicationId', '=', applicationId)
    .executeTakeFirst()
  return row !== undefined
}

/** Callers choose request ids, so several calls can have the same id. */
type CallSelection = {
  applicationId: string
  endpointId: string | null
  requestId: string | null
  window: TimeWindow
}

export const columns = sql`id, request_id, created_at, endpoint_id, application_id, machine_user_id, source_ip, method, path,
  target_url, response_status, duration_ms, transformed, is_test, failure,
  octet_length(request_headers::text) as request_headers_bytes, octet_length(request_body) as request_body_bytes,
  octet_length(response_headers::text) as response_headers_bytes, octet_length(response_body) as response_body_bytes`

export const callFields: ListFields = {
  id: { column: 'id', match: 'id' },
  requestId: { column: 'requestId', match: 'exact', isNullable: true },
  timestamp: { column: 'createdAt', match: 'time' },
  endpointId: { column: 'endpointId', match: 'id' },
  machineUserId: { column: 'machineUserId', match: 'id' },
  sourceIP: { column: 'sourceIp', match: 'exact' },
  method: { column: 'method', match: 'exact' },
  path: { column: 'path', match: 'text' },
  targetURL: { column: 'targetUrl', match: 'text' },
  responseStatus: { column: 'responseStatus', match: 'number', isNullable: true },
  durationMs: { column: 'durationMs', match: 'number', isNullable: true },
  transformationApplied: { column: 'transformed', match: 'boolean' },
  failure: { column: 'failure', match: 'text', isNullable: true },
  test: { column: 'isTest', match: 'boolean' },
}

/**
 * Returns a page of an application's calls, or of the calls to one of its endpoints. The newest calls are
 * first unless the page specifies an order.
 */
export async function listCalls(tx: Tx, selection: CallSelection, page: Page): Promise<LoggedCall[]> {
  await forceIndexScans.execute(tx)
  const isUnfiltered = selection.requestId === null && page.filters.length === 0 && page.order.length === 0
  const { rows } = await (
    isUnfiltered ? selectNewestCalls(selection, page) : searchCalls(selection, page)
  ).execute(tx)
  return rows
}

const buildEndpointCondition = ({ applicationId, endpointId }: CallSelection): RawBuilder<unknown> =>
  sql`e.application_id = ${applicationId} and (${endpointId}::uuid is null or e.id = ${endpointId}::uuid)`

/**
 * The newest calls belong to the pairs whose last call is most recent, so the statement needs at most as many pairs as
 * rows.
 */
function selectNewestCalls(selection: CallSelection, { limit, offset }: Page): RawBuilder<LoggedCall> {
  const rowLimit = offset + limit
  const within = createWindowSql(sql`created_at`, selection.window)
  return sql<LoggedCall>`
    select ${columns}
    from (
      select caller.application_id, l.*
      from (
        select e.application_id, c.endpoint_id, c.machine_user_id
        from endpoints e
        join esb_callers c on c.endpoint_id = e.id
        cross join lateral (
          select created_at, id from esb_audit_logs
          where endpoint_id = c.endpoint_id and machine_user_id = c.machine_user_id ${within}
          order by created_at desc, id desc limit 1
        ) last
        where ${buildEndpointCondition(selection)}
        order by last.created_at desc, last.id desc limit ${rowLimit}
      ) caller
      cross join lateral (
        select * from esb_audit_logs
        where endpoint_id = caller.endpoint_id and machine_user_id = caller.machine_user_id ${within}
        order by created_at desc, id desc limit ${rowLimit}
      ) l
      order by l.created_at desc, l.id desc limit ${limit} offset ${offset}
    ) newest
    order by created_at desc, id desc`
}

/**
 * Selects calls by filters, by request id, or in a different order. For each pair, or for each endpoint if
 * the request id is known, the statement keeps only the rows that the page needs. In time order, it stops
 * when it has enough rows. Other orders, and filters that match few rows, read all calls of the pairs, up to
 * the statement timeout.
 */
function searchCalls(selection: CallSelection, page: Page): RawBuilder<LoggedCall> {
  const { limit, offset } = page
  const { requestId } = selection
  const source =
    requestId === null ? sql`endpoints e join esb_callers c on c.endpoint_id = e.id` : sql`endpoints e`
  const callCondition =
    requestId === null
      ? sql`endpoint_id = c.endpoint_id and machine_user_id = c.machine_user_id`
      : sql`endpoint_id = e.id and request_id = ${requestId}`
  const buildOrder = (table: string): RawBuilder<unknown> => {
    const ref = createColumnQualifier(table)
    return page.order.length > 0
      ? createOrderSql(page, ref)
      : sql`${ref('createdAt')} desc, ${ref('id')} desc`
  }
  return sql<LoggedCall>`
    select ${columns}
    from (
      select e.application_id, l.*
      from ${source}
      cross join lateral (
        select * from esb_audit_logs
        where ${callCondition} ${createWindowSql(sql`created_at`, selection.window)}
          ${createFilterSql(page, createColumnQualifier('esbAuditLogs'))}
        order by ${buildOrder('esbAuditLogs')} limit ${offset + limit}
      ) l
      where ${buildEndpointCondition(selection)}
      order by ${buildOrder('l')} limit ${limit} offset ${offset}
    ) found
    order by ${buildOrder('found')}`
}

/** Returns one part of each call, in the order of the keys; null if the part was not stored. */
export async function findContents<Part extends keyof CallContents>(
  db: Reads,
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
  return orderByPosition(keys.length, rows).map((row) => row?.content ?? null)
}

/** Counts the logged calls of the endpoint up to the last served call, but at most `most` calls. */
export const countByEndpoint = (tx: Tx, id: string, most: number): Promise<number> =>
  countCalls(tx, sql`endpoint_id = ${id}`, most)

/** Counts the logged calls of the machine user up to the last served call, but at most `most` calls. */
export const countByMachineUser = (tx: Tx, id: string, most: number): Promise<number> =>
  countCalls(tx, sql`machine_user_id = ${id}`, most)

/**
 * Counts the logged calls of the application's endpoints up to the last served call, but at most `most` calls. The
 * endpoints are locked first, because the first call of a caller waits only for the lock on its endpoint.
 */
export async function countByApplication(tx: Tx, id: string, most: number): Promise<number> {
  await sql`select from endpoints where application_id = ${id} order by id for update`.execute(tx)
  return countCalls(tx, sql`endpoint_id in (select id from endpoints where application_id = ${id})`, most)
}

async function countCalls(tx: Tx, callerCondition: RawBuilder<unknown>, most: number): Promise<number> {
  await forceIndexScans.execute(tx)
  // The inner limit keeps the planner from replacing the loop over the pairs with a join on the whole log.
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count
    from (
      select
      from (select * from esb_callers where ${callerCondition}) c
      cross join lateral (
        select from esb_audit_logs
        where endpoint_id = c.endpoint_id and machine_user_id = c.machine_user_id
          and created_at < c.served_until limit ${most}
      ) l
      limit ${most}
    ) counted`.execute(tx)
  return rows[0]?.count ?? 0
}
