// What happened, as the checkers read it: what was planned, which runs the database holds, what arrived at the backends,
// and what the harness itself asked the service for.
import type { Pool } from 'pg'

/** One call of the harness. `unknown` means no answer, or a 5xx: it may or may not have happened. */
export type Operation = {
  op: string
  key: string
  start: number
  end: number
  /** Of the answer; 0 for none. */
  status: number
  outcome: 'ok' | 'fail' | 'unknown'
}

/** One instant at which a trigger is due for a deployment; times are milliseconds since 1970. */
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

/** One request as a backend received it. `status` is what was answered; 0 for none. */
export type Delivery = {
  runId: string
  triggerId: string
  attempt: number
  scheduledAt: number
  /** What the signature and the body say of the time. */
  stampedAt: number
  executedAt: number
  at: number
  destination: number
  mode: string
  status: number
}

export type Recorder = {
  operations: Operation[]
  /** Runs the call, which resolves to a status of HTTP, and notes how it ended; a call without answer resolves to 0. */
  record(op: string, key: string, call: () => Promise<number>): Promise<number>
  /** Notes a call that has ended, just now unless it says when. */
  note(call: { op: string; key: string; status: number; start?: number; end?: number }): void
}

/** Notes calls as they end. */
export function createRecorder(now: () => number = Date.now): Recorder {
  const operations: Operation[] = []
  return {
    operations,
    note: ({ start = now(), end = now(), ...call }) =>
      void operations.push({ ...call, start, end, outcome: outcomeOf(call.status) }),
    record: async (op, key, call) => {
      const start = now()
      const status = await call().catch(() => 0)
      operations.push({ op, key, start, end: now(), status, outcome: outcomeOf(status) })
      return status
    },
  }
}

/** What a status tells the caller: without an answer, or with a 5xx, it may or may not have happened. */
export function outcomeOf(status: number): Operation['outcome'] {
  if (status === 0 || status >= 500) return 'unknown'
  return status < 300 ? 'ok' : 'fail'
}

/** The keys of the operations of one kind that ended so. */
export const keysOf = (operations: Operation[], op: string, outcome: Operation['outcome']): string[] =>
  operations.filter((one) => one.op === op && one.outcome === outcome).map(({ key }) => key)

/** What tells one firing from every other. */
export const keyOf = ({ triggerId, environmentId, scheduledAt }: Planned): string =>
  `${triggerId} ${environmentId} ${scheduledAt}`

type RunRow = Omit<Run, 'scheduledAt' | 'finishedAt'> & { scheduledAt: Date; finishedAt: Date | null }

/** Every run the database holds. */
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
