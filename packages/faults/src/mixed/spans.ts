// What callers of the mixed load got in a span of time, and how soon they are served again after it.
import type { Operation } from '../recorder.ts'
import type { Mutant } from '../row.ts'
import { quantile } from '../verdict.ts'
import type { FaultSpan, MixedHistory } from './history.ts'

export type Span = Pick<FaultSpan, 'at' | 'until'>
const writes = new Set(['create', 'rename', 'end', 'emit', 'upload'])

/** The calls that began in it. */
export const begunIn = (operations: readonly Operation[], { at, until }: Span): Operation[] =>
  operations.filter(({ start }) => start >= at && start < until)

/** How many calls were acknowledged per second of it. */
export const okPerSecond = (operations: readonly Operation[], span: Span): number =>
  operations.filter(({ outcome, end }) => outcome === 'ok' && end >= span.at && end < span.until).length /
  ((span.until - span.at) / 1_000)

/** The percentage of the calls that began in it and were told to come again. */
export function shedPercent(operations: readonly Operation[], span: Span): number {
  const begun = begunIn(operations, span)
  return (100 * begun.filter(({ status }) => status === 503).length) / Math.max(1, begun.length)
}

/** What nearly all of the calls that began in it and were acknowledged took at most. */
export const acceptedP99Ms = (operations: readonly Operation[], span: Span): number =>
  quantile(
    begunIn(operations, span)
      .filter(({ outcome }) => outcome === 'ok')
      .map(({ start, end }) => end - start)
      .sort((a, b) => a - b),
    0.99,
  )

/** The longest that anybody waited for an answer, counted from when it began at the earliest. */
export const longestMs = (operations: readonly Operation[], { at, until }: Span): number =>
  operations
    .filter(({ start, end }) => end >= at && start < until)
    .reduce((longest, { start, end }) => Math.max(longest, end - Math.max(start, at)), 0)

/** How soon after it a write, one of these, was acknowledged; Infinity when none was. For faults that let nobody write. */
export const recoverMs = (
  operations: readonly Operation[],
  { until }: Span,
  kinds: ReadonlySet<string> = writes,
): number =>
  operations
    .filter(({ op, outcome, end }) => kinds.has(op) && outcome === 'ok' && end >= until)
    .reduce((soonest, { end }) => Math.min(soonest, end - until), Infinity)

/** The writes that the audit trail tells of; those of one project take turns. */
export const auditedWrites: ReadonlySet<string> = new Set(['create', 'rename', 'end', 'upload'])

/** The longest time within it in which none of these calls was acknowledged. */
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

/** Writes that were acknowledged in it. */
export const findWritten = (operations: readonly Operation[], { at, until }: Span): Operation[] =>
  operations.filter(
    ({ op, outcome, start, end }) => writes.has(op) && outcome === 'ok' && start >= at && end < until,
  )

/** A mutant: nobody can write after the last fault, or so long before its end. */
export const neverRecovers = <O extends MixedHistory & { faults: FaultSpan[] }>(
  breaks = 'recover_ms',
  beforeMs = 0,
): Mutant<O> => ({
  name: 'nobody can write any more',
  breaks,
  plant: (observed) => {
    const until = (observed.faults.at(-1)?.until ?? 0) - beforeMs
    return { ...observed, operations: observed.operations.filter(({ end }) => end < until) }
  },
})

/** A mutant: somebody who called in the fault waits for this long. */
export const waitsLong = <O extends MixedHistory & { faults: FaultSpan[] }>(
  breaks: string,
  ms: number,
): Mutant<O> => ({
  name: 'a caller waits for too long',
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
