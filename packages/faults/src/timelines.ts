// The timelines of rows, from what they record.
import type { Emit } from './comms-checkers.ts'
import type { Delivery, Operation } from './recorder.ts'
import type { Series, Span, Timeline } from './timeline.ts'

/** What a row gives; the time is that of all of it, unless it says more. */
type Parts = { series: readonly Series[]; errors: readonly number[]; faults: readonly Span[] }

const edgeMs = 1_000

/** All of it, from shortly before the first to shortly after the last. */
export function timelineOf({ series, errors, faults }: Parts): Omit<Timeline, 'title'> {
  let [from, to] = [Infinity, -Infinity]
  const see = (time: number): void => {
    if (!Number.isFinite(time)) return
    from = Math.min(from, time)
    to = Math.max(to, time)
  }
  for (const { times } of series) for (const time of times) see(time)
  for (const time of errors) see(time)
  for (const { at, until } of faults) {
    see(at)
    see(until)
  }
  if (from > to) [from, to] = [0, 0]
  const ending = to + edgeMs
  // A fault that never ended lasts until the end of the picture.
  const shown = faults.map((fault) => ({ ...fault, until: Math.min(fault.until, ending) }))
  return { series, errors, faults: shown, from: from - edgeMs, to: ending }
}

/** More than these few lines could not be told apart. */
const lines: Readonly<Record<string, string>> = {
  authenticate: 'authenticated',
  stranger: 'authenticated',
  create: 'changes',
  rename: 'changes',
  end: 'changes',
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
 * Calls of the harness: a line for related kinds, by when they were answered. Errors are those without an answer, or with a
 * 5xx: who is refused as promised, such as with an ended credential, is none.
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

/** Runs: when they were due, and when their backends received them; errors are those that were not accepted. */
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

/** Emits: when each try was answered; errors are those that were not accepted. */
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

type Harmed = {
  emits: readonly Emit[]
  arrivals: readonly { at: number }[]
  harmedAt: number
  healedAt: number
}

/** Emits, and hints as sockets get them, while Redis is harmed. */
export const redisTimeline = (
  { emits, arrivals, harmedAt, healedAt }: Harmed,
  name: string,
): Omit<Timeline, 'title'> =>
  emitsTimeline(
    emits,
    [{ at: harmedAt, until: healedAt, name }],
    [{ name: 'hints', times: arrivals.map(({ at }) => at) }],
  )
