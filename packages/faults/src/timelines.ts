// Builds timelines from the records of scenarios.
import type { Emit } from './comms-checkers.ts'
import type { Delivery, Operation } from './recorder.ts'
import type { Series, Span, Timeline } from './timeline.ts'

/** A timeline without its time range. */
type Parts = { series: readonly Series[]; errors: readonly number[]; faults: readonly Span[] }

const edgeMs = 1_000

/** Adds the time range, from shortly before the first event to shortly after the last. */
export function timelineOf({ series, errors, faults }: Parts): Omit<Timeline, 'title'> {
  let [from, to] = [Infinity, -Infinity]
  const include = (time: number): void => {
    if (!Number.isFinite(time)) return
    from = Math.min(from, time)
    to = Math.max(to, time)
  }
  for (const { times } of series) for (const time of times) include(time)
  for (const time of errors) include(time)
  for (const { at, until } of faults) {
    include(at)
    include(until)
  }
  if (from > to) [from, to] = [0, 0]
  const ending = to + edgeMs
  // A fault without an end extends to the right edge of the chart.
  const shown = faults.map((fault) => ({ ...fault, until: Math.min(fault.until, ending) }))
  return { series, errors, faults: shown, from: from - edgeMs, to: ending }
}

/** Groups operations into few lines, because many lines would be hard to distinguish. */
const lines: Readonly<Record<string, string>> = {
  authenticate: 'authenticated',
  stranger: 'authenticated',
  create: 'changes',
  rename: 'changes',
  invalidate: 'changes',
  seal: 'changes',
  upload: 'changes',
  call: 'partner calls',
  emit: 'notifications',
  publish: 'notifications',
  login: 'logins',
  poll: 'logins',
  approve: 'logins',
}

/**
 * Plots when calls of the harness completed, with one line per group of related kinds. Calls without a
 * response or with a 5xx are errors. Expected rejections, such as those of invalidated credentials, are not
 * errors.
 */
export function operationsTimeline(
  operations: readonly Operation[],
  faults: readonly Span[],
): Omit<Timeline, 'title'> {
  const good = operations.filter(({ outcome }) => outcome === 'ok')
  const series = [...Map.groupBy(good, ({ op }) => lines[op] ?? op)].map(([name, some]) => ({
    name,
    times: some.map(({ end }) => end),
  }))
  const errors = operations.filter(({ outcome }) => outcome === 'unknown').map(({ end }) => end)
  return timelineOf({ series, errors, faults })
}

/** Plots when runs were due and when their backends received them. Deliveries that were not accepted are errors. */
export const deliveriesTimeline = (
  deliveries: readonly Delivery[],
  faults: readonly Span[],
): Omit<Timeline, 'title'> =>
  timelineOf({
    series: [
      {
        name: 'due',
        times: deliveries.filter(({ attempt }) => attempt === 1).map(({ scheduledAt }) => scheduledAt),
      },
      { name: 'delivered', times: deliveries.filter(isAccepted).map(({ at }) => at) },
    ],
    errors: deliveries.filter((sent) => !isAccepted(sent)).map(({ at }) => at),
    faults,
  })
const isAccepted = ({ status }: Delivery): boolean => status >= 200 && status < 300

/** Plots when each emit attempt completed. Attempts that were not accepted are errors. */
export function emitsTimeline(
  emits: readonly Emit[],
  faults: readonly Span[],
  others: readonly Series[] = [],
): Omit<Timeline, 'title'> {
  const tries = emits.flatMap(({ attempts }) => attempts)
  const times = (isGood: boolean): number[] =>
    tries.filter(({ status }) => (status === 202) === isGood).map(({ end }) => end)
  return timelineOf({
    series: [{ name: 'emits accepted', times: times(true) }, ...others],
    errors: times(false),
    faults,
  })
}

type RedisOutage = {
  emits: readonly Emit[]
  arrivals: readonly { at: number }[]
  brokenAt: number
  healedAt: number
}

/** Plots emits and received hints while Redis is broken. */
export const redisTimeline = (
  { emits, arrivals, brokenAt, healedAt }: RedisOutage,
  name: string,
): Omit<Timeline, 'title'> =>
  emitsTimeline(
    emits,
    [{ at: brokenAt, until: healedAt, name }],
    [{ name: 'hints', times: arrivals.map(({ at }) => at) }],
  )
