// What must hold of a history. Every checker is a function of its arguments and names what breaks its rule, so that one
// that finds nothing can be shown a planted mistake and must find it.
import { type Delivery, type Planned, type Run, keyOf } from './recorder.ts'

/**
 * Set: everything that was acknowledged is stored, and nothing is stored that nobody asked for; what ended unknown may be
 * either.
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
 * Once: one run id for a trigger, an environment and an instant, in the database and at the backends. The backends'
 * record counts too, because a second run may have been sent and never stored.
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
  // Sent, and known to nobody: whoever made it did not have the right to.
  const strangers = deliveries.filter(({ runId }) => !environments.has(runId)).map(({ runId }) => runId)
  return [...new Set([...twice, ...rows, ...strangers])]
}

/** At least once: every one of these runs was answered 2xx by its backend, whatever the database says of it. */
export function checkDelivered(runs: readonly Run[], deliveries: readonly Delivery[]): string[] {
  const arrived = new Set(deliveries.filter(isAccepted).map(({ runId }) => runId))
  return runs.filter(({ id }) => !arrived.has(id)).map(({ id }) => id)
}

/** Deliveries of a run that a backend had accepted already. */
export function findRedelivered(deliveries: readonly Delivery[]): Delivery[] {
  const accepted = new Set<string>()
  return inOrder(deliveries).filter((delivery) => {
    const isAgain = accepted.has(delivery.runId)
    if (isAccepted(delivery)) accepted.add(delivery.runId)
    return isAgain
  })
}

/** Same instants: what a backend is told is what the run is stored under, and lies on the schedule. */
export function checkInstants(
  runs: readonly Run[],
  deliveries: readonly Delivery[],
  isInstant: (at: number) => boolean,
): string[] {
  const stored = new Map(runs.map((run) => [run.id, run.scheduledAt]))
  return [
    ...runs
      .filter((run) => !isInstant(run.scheduledAt))
      .map(({ id }) => `${id} is stored for another instant`),
    ...deliveries
      .filter(({ runId, scheduledAt }) => stored.has(runId) && stored.get(runId) !== scheduledAt)
      .map(({ runId }) => `${runId} was sent for another instant than it is stored for`),
  ]
}

/** Order: a trigger's runs reach its deployment in the order of their instants. */
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
  /** What is waited before each further attempt, without jitter. */
  delaysMs: number[]
  jitter: number
  /** What a busy machine adds before the request arrives. */
  slackMs: number
  /** What a backend in this mode asks for with Retry-After. */
  retryAfterMs: (mode: string) => number
}

/** Retry policy: as many attempts as there are delays and one, numbered in order, none too early and none too late. */
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
      const [least, most] = boundsOf(delay, before.mode, policy)
      if (gap < least || gap > most)
        wrong.push(`${runId}: attempt ${index + 2} after ${gap} ms, not ${least} to ${most}`)
    })
  }
  return wrong
}

function boundsOf(delay: number, mode: string, policy: RetryPolicy): [number, number] {
  const asked = policy.retryAfterMs(mode)
  // What a backend asks for takes the place of the delay. Clocks of one machine; a timer may fire a millisecond early.
  const least = (asked > 0 ? asked : delay * (1 - policy.jitter)) - 2
  return [least, Math.max(delay, asked) * (1 + policy.jitter) + policy.slackMs]
}

/** Retry-After: how many of the answers that carried it were followed by an attempt, and how many of these too early. */
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

/** Fenced: a run that was finished stays as it was, whoever reports later. */
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

/** When each run arrived first. */
function firstArrivals(deliveries: readonly Delivery[]): Map<string, number> {
  const first = new Map<string, number>()
  for (const { runId, at } of deliveries) first.set(runId, Math.min(at, first.get(runId) ?? Infinity))
  return first
}

/** How late each run arrived first, in milliseconds, the least late first. */
export const lagsOf = (deliveries: readonly Delivery[]): number[] => {
  const first = firstArrivals(deliveries)
  const instants = new Map(deliveries.map(({ runId, scheduledAt }) => [runId, scheduledAt]))
  return [...first].map(([id, at]) => at - (instants.get(id) as number)).sort((a, b) => a - b)
}

const isAccepted = ({ status }: Delivery): boolean => status >= 200 && status < 300

const inOrder = (deliveries: readonly Delivery[]): Delivery[] => [...deliveries].sort((a, b) => a.at - b.at)

/** The keys of what was planned, for the checker of sets. */
export const plannedKeys = (planned: readonly Planned[]): string[] => planned.map(keyOf)
