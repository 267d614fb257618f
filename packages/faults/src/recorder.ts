// The record that the checkers read: planned runs, stored runs, requests that arrived at the backends, and calls of the
// harness.
import type { Pool } from 'pg'

/**
 * One call of the harness. `unknown` means that no response or a 5xx arrived: the call may or may not have taken
 * effect.
 */
export type Operation = {
  op: string
  key: string
  start: number
  end: number
  /** Response status, or 0 if there was no response. */
  status: number
  outcome: 'ok' | 'fail' | 'unknown'
}

/** A scheduled firing of a trigger for a deployment. Times are milliseconds since the epoch. */
export type Planned = { triggerId: string; environmentId: string; scheduledAt: number }

/** One row of trigger_runs. */
export type Run = Planned & {
  id: string
  outcome: string
  attempts: number
  starts: number
  finishedAt: number | null
  responseStatus: number | null
}

/** One request as a backend received it. `status` is the backend's response, or 0 if it sent none. */
export type Delivery = {
  runId: string
  triggerId: string
  attempt: number
  scheduledAt: number
  /** The times in the signature and in the body. */
  stampedAt: number
  executedAt: number
  at: number
  destination: number
  mode: string
  status: number
}

export type Recorder = {
  operations: Operation[]
  /**
   * Runs the call, which resolves to an HTTP status, and records the call. Resolves to 0 if the call throws.
   */
  record(op: string, key: string, call: () => Promise<number>): Promise<number>
  /** Records a completed call. Its start and end default to now. */
  recordCompleted(call: { op: string; key: string; status: number; start?: number; end?: number }): void
}

/** Creates an empty recorder. */
export function createRecorder(now: () => number = Date.now): Recorder {
  const operations: Operation[] = []
  return {
    operations,
    recordCompleted: ({ start = now(), end = now(), ...call }) =>
      void operations.push({ ...call, start, end, outcome: outcomeOf(call.status) }),
    record: async (op, key, call) => {
      const start = now()
      const status = await call().catch(() => 0)
      operations.push({ op, key, start, end: now(), status, outcome: outcomeOf(status) })
      return status
    },
  }
}

/** Maps a status to an outcome. Without a response, or with a 5xx, the call may or may not have taken effect. */
export function outcomeOf(status: number): Operation['outcome'] {
  if (status === 0 || status >= 500) return 'unknown'
  return status < 300 ? 'ok' : 'fail'
}

/** Returns the keys of all operations of this kind with this outcome. */
export const keysOf = (operations: Operation[], op: string, outcome: Operation['outcome']): string[] =>
  operations.filter((one) => one.op === op && one.outcome === outcome).map(({ key }) => key)

/** Returns a unique key for one due time of a trigger. */
export const keyOf = ({ triggerId, environmentId, scheduledAt }: Planned): string =>
  `${triggerId} ${environmentId} ${scheduledAt}`

type RunRow = Omit<Run, 'scheduledAt' | 'finishedAt'> & { scheduledAt: Date; finishedAt: Date | null }

/** Reads all runs from the database. */
export async function readRuns(sql: Pool): Promise<Run[]> {
  const { rows } = await sql.query<RunRow>(
    `select id, trigger_id as "triggerId", environment_id as "environmentId", scheduled_at as "scheduledAt", outcome,
       attempts, starts, finished_at as "finishedAt", response_status as "responseStatus"
     from trigger_runs order by scheduled_at, trigger_id`,
  )
  return rows.map((row) => ({
    ...row,
    scheduledAt: row.scheduledAt.getTime(),
    finishedAt: row.finishedAt === null ? null : row.finishedAt.getTime(),
  }))
}
