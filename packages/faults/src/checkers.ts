// Checks the rules that a history must satisfy. Every checker is a pure function that returns the violations of its
// rule, so it can be tested with planted mistakes.
import { type Delivery, type Planned, type Run, keyOf } from './recorder.ts'

/**
 * Set rule: every acknowledged operation is stored, and nothing is stored without a request. Operations with
 * an unknown outcome may or may not be stored.
 */
export function checkSet(sets: { ok: string[]; unknown?: string[]; stored: string[] }): {
  missing: string[]
  unexpected: string[]
} {
  const stored = new Set(sets.stored)
  const asked = new Set([...sets.ok, ...(sets.unknown ?? [])])
  return {
    missing: [...new Set(sets.ok)].filter((key) => !stored.has(key)),
    unexpected: [...stored].filter((key) => !asked.has(key)),
  }
}

/**
 * Once rule: each combination of trigger, environment and instant has one run id, in the database and at the
 * backends. The record of the backends is checked too, because a second run may have been sent but never
 * stored.
 */
export function checkOnce(runs: readonly Run[], deliveries: readonly Delivery[]): string[] {
  const environments = new Map(runs.map((run) => [run.id, run.environmentId]))
  const sent = deliveries.filter(({ runId }) => environments.has(runId))
  const ids = Map.groupBy(
    [
      ...runs.map((run) => ({ key: keyOf(run), id: run.id })),
      ...sent.map((delivery) => ({
        key: keyOf({ ...delivery, environmentId: environments.get(delivery.runId) as string }),
        id: delivery.runId,
      })),
    ],
    ({ key }) => key,
  )
  const twice = [...ids]
    .filter(([, found]) => new Set(found.map(({ id }) => id)).size > 1)
    .map(([key]) => key)
  const rows = [...Map.groupBy(runs, keyOf)].filter(([, found]) => found.length > 1).map(([key]) => key)
  // No replica may send a run that is not stored.
  const unknownRuns = deliveries.filter(({ runId }) => !environments.has(runId)).map(({ runId }) => runId)
  return [...new Set([...twice, ...rows, ...unknownRuns])]
}

/**
 * At-least-once rule: the backend accepted every run with a 2xx. Returns the runs that it did not accept, whatever the
 * database says.
 */
export function checkDelivered(runs: readonly Run[], deliveries: readonly Delivery[]): string[] {
  const arrived = new Set(deliveries.filter(isAccepted).map(({ runId }) => runId))
  return runs.filter(({ id }) => !arrived.has(id)).map(({ id }) => id)
}

/** Returns deliveries of runs that a backend had already accepted. */
export function findRedelivered(deliveries: readonly Delivery[]): Delivery[] {
  const accepted = new Set<string>()
  return inOrder(deliveries).filter((delivery) => {
    const isAgain = accepted.has(delivery.runId)
    if (isAccepted(delivery)) accepted.add(delivery.runId)
    return isAgain
  })
}

/** Instant rule: the instant that a backend receives equals the stored instant and matches the schedule. */
export function checkInstants(
  runs: readonly Run[],
  deliveries: readonly Delivery[],
  isInstant: (at: number) => boolean,
): string[] {
  const stored = new Map(runs.map((run) => [run.id, run.scheduledAt]))
  return [
    ...runs
      .filter((run) => !isInstant(run.scheduledAt))
      .map(({ id }) => `${id} is stored for an instant that is not on the schedule`),
    ...deliveries
      .filter(({ runId, scheduledAt }) => stored.has(runId) && stored.get(runId) !== scheduledAt)
      .map(({ runId }) => `${runId} was sent with an instant that differs from the stored instant`),
  ]
}

/** Order rule: the runs of a trigger reach each deployment in the order of their instants. */
export function checkOrder(runs: readonly Run[], deliveries: readonly Delivery[]): string[] {
  const first = firstArrivals(deliveries)
  const last = new Map<string, { scheduledAt: number; at: number }>()
  const wrong: string[] = []
  for (const run of [...runs].sort((a, b) => a.scheduledAt - b.scheduledAt)) {
    const at = first.get(run.id)
    if (at === undefined) continue
    const line = `${run.triggerId} ${run.environmentId}`
    const before = last.get(line)
    if (before !== undefined && before.scheduledAt < run.scheduledAt && before.at > at) wrong.push(run.id)
    last.set(line, { scheduledAt: run.scheduledAt, at })
  }
  return wrong
}

export type RetryPolicy = {
  /** The delay before each retry, without jitter. */
  delaysMs: number[]
  jitter: number
  /** The time that a busy machine may add before the request arrives. */
  slackMs: number
  /** The Retry-After value that a backend in this mode sends. */
  retryAfterMs: (mode: string) => number
}

/**
 * Retry rule: the number of attempts is at most one more than the number of delays. Attempts are numbered in
 * order, and no attempt is too early or too late.
 */
export function checkRetries(deliveries: readonly Delivery[], policy: RetryPolicy): string[] {
  const wrong: string[] = []
  for (const [runId, attempts] of Map.groupBy(inOrder(deliveries), ({ runId }) => runId)) {
    if (attempts.length > policy.delaysMs.length + 1) wrong.push(`${runId}: ${attempts.length} attempts`)
    if (attempts.some(({ attempt }, index) => attempt !== index + 1))
      wrong.push(`${runId}: attempts ${attempts.map(({ attempt }) => attempt).join(', ')}`)
    attempts.slice(1).forEach((attempt, index) => {
      const before = attempts[index] as Delivery
      const delay = policy.delaysMs[index]
      if (delay === undefined) return
      const gap = attempt.at - before.at
      const [min, max] = boundsOf(delay, before.mode, policy)
      if (gap < min || gap > max)
        wrong.push(`${runId}: attempt ${index + 2} after ${gap} ms, not ${min} to ${max}`)
    })
  }
  return wrong
}

function boundsOf(delay: number, mode: string, policy: RetryPolicy): [number, number] {
  const asked = policy.retryAfterMs(mode)
  // Retry-After replaces the delay. A timer may fire 1 ms early.
  const min = (asked > 0 ? asked : delay * (1 - policy.jitter)) - 2
  return [min, Math.max(delay, asked) * (1 + policy.jitter) + policy.slackMs]
}

/**
 * Counts the responses with Retry-After that were followed by an attempt. Also counts how many of these
 * attempts were early.
 */
export function checkRetryAfter(
  deliveries: readonly Delivery[],
  retryAfterMs: (mode: string) => number,
): { followed: number; early: number } {
  const gaps = [...Map.groupBy(inOrder(deliveries), ({ runId }) => runId).values()].flatMap((attempts) =>
    attempts.slice(1).map((attempt, index) => {
      const before = attempts[index] as Delivery
      return { gap: attempt.at - before.at, asked: retryAfterMs(before.mode) }
    }),
  )
  const followed = gaps.filter(({ asked }) => asked > 0)
  return { followed: followed.length, early: followed.filter(({ gap, asked }) => gap < asked - 2).length }
}

/** Fencing rule: a finished run does not change, even if a different replica reports a result later. */
export function checkFenced(before: readonly Run[], after: readonly Run[]): string[] {
  const later = new Map(after.map((run) => [run.id, run]))
  return before
    .filter(({ finishedAt }) => finishedAt !== null)
    .filter((run) => !isSame(run, later.get(run.id)))
    .map(({ id }) => id)
}

const isSame = (run: Run, other: Run | undefined): boolean =>
  other !== undefined &&
  (['outcome', 'attempts', 'starts', 'finishedAt', 'responseStatus'] as const).every(
    (field) => run[field] === other[field],
  )

/** Returns the time of each run's first arrival. */
function firstArrivals(deliveries: readonly Delivery[]): Map<string, number> {
  const first = new Map<string, number>()
  for (const { runId, at } of deliveries) first.set(runId, Math.min(at, first.get(runId) ?? Infinity))
  return first
}

/** Returns the lag of each run until its first arrival, in milliseconds and ascending order. */
export const lagsOf = (deliveries: readonly Delivery[]): number[] => {
  const first = firstArrivals(deliveries)
  const instants = new Map(deliveries.map(({ runId, scheduledAt }) => [runId, scheduledAt]))
  return [...first].map(([id, at]) => at - (instants.get(id) as number)).sort((a, b) => a - b)
}

const isAccepted = ({ status }: Delivery): boolean => status >= 200 && status < 300

const inOrder = (deliveries: readonly Delivery[]): Delivery[] => [...deliveries].sort((a, b) => a.at - b.at)

/** Returns the keys of planned runs for `checkSet`. */
export const plannedKeys = (planned: readonly Planned[]): string[] => planned.map(keyOf)
