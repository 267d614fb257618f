// Checks the rules for calls through the ESB. Each checker returns the violations of its rule.
import type { Pool } from 'pg'
import { quantile } from '../verdict.ts'
import type { CallRecord } from './caller.ts'

/** A row of the call log. `status` is null and `hasEnd` is false until the call is complete. */
export type LoggedRow = { requestId: string; endpointId: string; status: number | null; hasEnd: boolean }
/** The responses that callers received, the rows of the log, and the calls that reached the good upstream. */
export type CallHistory = { calls: CallRecord[]; rows: LoggedRow[]; hits: string[] }
export type EsbObserved = CallHistory & {
  /** Replicas that exited unexpectedly. */
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

/**
 * Returns calls with a complete response from the partner whose log row is missing or has a different status.
 */
export function checkAnswered({ calls, rows }: Pick<CallHistory, 'calls' | 'rows'>): string[] {
  const logged = byId(rows)
  return calls
    .filter(({ isFromPartner, isComplete }) => isFromPartner && isComplete)
    .filter(({ key, status }) => logged.get(key)?.some((row) => row.hasEnd && row.status === status) !== true)
    .map(({ key }) => key)
}

/** Returns calls that reached the upstream but are not in the log. */
export function checkForwarded({ hits, rows }: Pick<CallHistory, 'hits' | 'rows'>): string[] {
  const logged = byId(rows)
  return hits.filter((id) => !logged.has(id))
}

/** Returns calls that reached the upstream more than once. Only the caller may repeat a call. */
export const checkForwardedOnce = ({ hits }: Pick<CallHistory, 'hits'>): string[] =>
  [...Map.groupBy(hits, (id) => id)].filter(([, same]) => same.length > 1).map(([id]) => id)

/** Returns log rows about calls whose caller received no complete response. */
export function findRowsWithoutResponse({ calls, rows }: Pick<CallHistory, 'calls' | 'rows'>): LoggedRow[] {
  const answered = new Set(calls.filter(({ isComplete }) => isComplete).map(({ key }) => key))
  return rows.filter(({ requestId }) => !answered.has(requestId))
}

/** Returns 503 and 429 responses without Retry-After. */
export const withoutRetryAfter = (calls: readonly CallRecord[]): string[] =>
  calls
    .filter(({ status, retryAfter }) => (status === 503 || status === 429) && retryAfter === null)
    .map(({ kind, status, problem }) => `${kind} ${status} ${problem}`)

/** Returns the duration, in milliseconds, that this fraction of the calls did not exceed. */
export const timeAt = (calls: readonly CallRecord[], share: number): number =>
  quantile(
    calls.map(({ ms }) => ms).sort((a, b) => a - b),
    share,
  )

/** Counts the calls by status: `200:31,503:4`. */
export const statusesOf = (calls: readonly CallRecord[]): string =>
  [...Map.groupBy(calls, ({ status }) => status)]
    .sort(([a], [b]) => a - b)
    .map(([status, of]) => `${status}:${of.length}`)
    .join(',')
