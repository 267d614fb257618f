// A logged call: its address, and the state that its row shows.
import { isUuid } from '../../app/ids.ts'
import type { StatusKind } from '../../kit/badge.tsx'
import type { CallDetailResult, CallListResult } from '../../generated/documents.ts'

export type Call = CallListResult['esbAuditLogsConnection']['nodes'][number]
export type CallDetail = CallDetailResult['esbAuditLogs'][number]
/** The part of a call from which its status follows. */
export type CallState = Pick<Call, 'timestamp' | 'responseStatus' | 'durationMs' | 'failure'>

/** The id of a call is not indexed. With the time of the call, the API finds it without searching the log. */
type CallKey = { readonly id: string; readonly from: string; readonly to: string }

/** Returns the text that identifies a call in the address: its time in milliseconds, and its id. */
export const toCallKey = ({ id, timestamp }: Pick<Call, 'id' | 'timestamp'>): string =>
  `${Date.parse(timestamp)}-${id}`

const latestTime = 8_640_000_000_000_000

/** Reads the key of a call; null if the text is not one. */
export function readCallKey(text: string): CallKey | null {
  const [, digits = '', id = ''] = /^(\d{1,16})-(.{36})$/.exec(text) ?? []
  const time = Number(digits)
  if (digits === '' || !isUuid(id) || time >= latestTime) return null
  return { id, from: new Date(time).toISOString(), to: new Date(time + 1).toISOString() }
}

/** A call without a duration is in progress, unless its process was killed. After this time, its end is unknown. */
const longestCallMs = 60_000

export const isRunning = (
  { durationMs, timestamp }: Pick<Call, 'durationMs' | 'timestamp'>,
  now: number,
): boolean => durationMs === null && now - Date.parse(timestamp) < longestCallMs

/** Returns the icon for the result of a call. */
export function findStatusKind({
  responseStatus,
  durationMs,
  failure,
}: Omit<CallState, 'timestamp'>): StatusKind {
  if (durationMs === null) return 'pending'
  if (responseStatus === null || responseStatus >= 500) return 'danger'
  return responseStatus >= 400 || failure !== null ? 'warn' : 'ok'
}
