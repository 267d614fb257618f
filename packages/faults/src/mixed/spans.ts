// Computes figures about the calls of the mixed load within a time span, and about the recovery after the span.
import type { Operation } from '../recorder.ts'
import type { Mutant } from '../row.ts'
import { quantile } from '../verdict.ts'
import type { FaultSpan, MixedHistory } from './history.ts'

export type Span = Pick<FaultSpan, 'at' | 'until'>
const writes = new Set(['create', 'rename', 'invalidate', 'emit', 'upload'])

/** Returns the calls that started in the span. */
export const findStartedIn = (operations: readonly Operation[], { at, until }: Span): Operation[] =>
  operations.filter(({ start }) => start >= at && start < until)

/** Returns the acknowledged calls per second in the span. */
export const okPerSecond = (operations: readonly Operation[], span: Span): number =>
  operations.filter(({ outcome, end }) => outcome === 'ok' && end >= span.at && end < span.until).length /
  ((span.until - span.at) / 1_000)

/** Returns the percentage of calls that started in the span and received 503. */
export function shedPercent(operations: readonly Operation[], span: Span): number {
  const started = findStartedIn(operations, span)
  return (100 * started.filter(({ status }) => status === 503).length) / Math.max(1, started.length)
}

/** Returns the 99th percentile duration of the acknowledged calls that started in the span. */
export const acceptedP99Ms = (operations: readonly Operation[], span: Span): number =>
  quantile(
    findStartedIn(operations, span)
      .filter(({ outcome }) => outcome === 'ok')
      .map(({ start, end }) => end - start)
      .sort((a, b) => a - b),
    0.99,
  )

/** Returns the longest wait for a response within the span. The time before the span does not count. */
export const longestMs = (operations: readonly Operation[], { at, until }: Span): number =>
  operations
    .filter(({ start, end }) => end >= at && start < until)
    .reduce((longest, { start, end }) => Math.max(longest, end - Math.max(start, at)), 0)

/**
 * Returns the time from the end of the span to the next acknowledged write, or Infinity. Use it for faults that stop
 * all writes.
 */
export const recoverMs = (
  operations: readonly Operation[],
  { until }: Span,
  kinds: ReadonlySet<string> = writes,
): number =>
  operations
    .filter(({ op, outcome, end }) => kinds.has(op) && outcome === 'ok' && end >= until)
    .reduce((soonest, { end }) => Math.min(soonest, end - until), Infinity)

/** Kinds of writes that add an audit row. Within a project, they are serialized. */
export const auditedWrites: ReadonlySet<string> = new Set(['create', 'rename', 'invalidate', 'upload'])

/** Returns the longest gap in the span without an acknowledged call of these kinds. */
export function longestGapMs(
  operations: readonly Operation[],
  { at, until }: Span,
  kinds: ReadonlySet<string>,
): number {
  const ends = operations
    .filter(({ op, outcome, end }) => kinds.has(op) && outcome === 'ok' && end > at && end < until)
    .map(({ end }) => end)
    .sort((a, b) => a - b)
  return [...ends, until].reduce((longest, end, index) => Math.max(longest, end - (ends[index - 1] ?? at)), 0)
}

/** Returns writes that started and were acknowledged in the span. */
export const findWritten = (operations: readonly Operation[], { at, until }: Span): Operation[] =>
  operations.filter(
    ({ op, outcome, start, end }) => writes.has(op) && outcome === 'ok' && start >= at && end < until,
  )

/** Creates a mutant in which no operation completes in the last `beforeMs` or after the last fault. */
export const writesNeverRecover = <O extends MixedHistory & { faults: FaultSpan[] }>(
  breaks = 'recover_ms',
  beforeMs = 0,
): Mutant<O> => ({
  name: 'writes never succeed again',
  breaks,
  plant: (observed) => {
    const until = (observed.faults.at(-1)?.until ?? 0) - beforeMs
    return { ...observed, operations: observed.operations.filter(({ end }) => end < until) }
  },
})

/** Creates a mutant in which a call that started during the fault takes `ms`. */
export const slowCall = <O extends MixedHistory & { faults: FaultSpan[] }>(
  breaks: string,
  ms: number,
): Mutant<O> => ({
  name: 'a caller waits too long',
  breaks,
  plant: (observed) => {
    const at = observed.faults[0]?.at ?? 0
    const index = observed.operations.findIndex(({ op, start }) => op === 'authenticate' && start >= at)
    return {
      ...observed,
      operations: observed.operations.map((one, position) =>
        position === index ? { ...one, end: one.start + ms } : one,
      ),
    }
  },
})
