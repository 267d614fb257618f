// What must hold of calls through the ESB. Each checker names what breaks its rule.
import type { Pool } from 'pg'
import { quantile } from '../verdict.ts'
import type { CallRecord } from './caller.ts'

/** A row of the log of calls; status and end are null when its end is not there. */
export type LoggedRow = { requestId: string; endpointId: string; status: number | null; hasEnd: boolean }
/** What callers were answered, what the log holds, and what reached the good upstream. */
export type CallHistory = { calls: CallRecord[]; rows: LoggedRow[]; hits: string[] }
export type EsbObserved = CallHistory & {
  /** Replicas that ended although nobody told them to. */
  ended: string[]
}

export async function readRows(sql: Pool): Promise<LoggedRow[]> {
  const { rows } = await sql.query<LoggedRow>(
    `select request_id as "requestId", endpoint_id as "endpointId", response_status as status,
       duration_ms is not null as "hasEnd" from esb_audit_logs where request_id is not null`,
  )
  return rows
}

const byId = (rows: readonly LoggedRow[]): Map<string, LoggedRow[]> =>
  Map.groupBy(rows, ({ requestId }) => requestId)

/** Calls whose whole answer is the partner's, and whose row is missing or tells something else. */
export function checkAnswered({ calls, rows }: Pick<CallHistory, 'calls' | 'rows'>): string[] {
  const logged = byId(rows)
  return calls
    .filter(({ isOfPartner, isWhole }) => isOfPartner && isWhole)
    .filter(({ key, status }) => logged.get(key)?.some((row) => row.hasEnd && row.status === status) !== true)
    .map(({ key }) => key)
}

/** Calls that reached the upstream and are not in the log. */
export function checkForwarded({ hits, rows }: Pick<CallHistory, 'hits' | 'rows'>): string[] {
  const logged = byId(rows)
  return hits.filter((id) => !logged.has(id))
}

/** Calls that reached the upstream more than once: nobody repeats a call but its caller. */
export const checkForwardedOnce = ({ hits }: Pick<CallHistory, 'hits'>): string[] =>
  [...Map.groupBy(hits, (id) => id)].filter(([, same]) => same.length > 1).map(([id]) => id)

/** Rows of calls whose caller got no whole answer. */
export function rowsWithoutAnswer({ calls, rows }: Pick<CallHistory, 'calls' | 'rows'>): LoggedRow[] {
  const answered = new Set(calls.filter(({ isWhole }) => isWhole).map(({ key }) => key))
  return rows.filter(({ requestId }) => !answered.has(requestId))
}

/** Answers with 503 or 429 that do not say when to come again. */
export const withoutRetryAfter = (calls: readonly CallRecord[]): string[] =>
  calls
    .filter(({ status, retryAfter }) => (status === 503 || status === 429) && retryAfter === null)
    .map(({ kind, status, problem }) => `${kind} ${status} ${problem}`)

/** The milliseconds that this share of the calls did not exceed. */
export const timeAt = (calls: readonly CallRecord[], share: number): number =>
  quantile(
    calls.map(({ ms }) => ms).sort((a, b) => a - b),
    share,
  )

/** How many of each status there are: `200:31 503:4`. */
export const statusesOf = (calls: readonly CallRecord[]): string =>
  [...Map.groupBy(calls, ({ status }) => status)]
    .sort(([a], [b]) => a - b)
    .map(([status, of]) => `${status}:${of.length}`)
    .join(',')
