// Mistakes that rows of several kinds plant in their records.
import type { Operation } from './recorder.ts'
import type { Mutant } from './row.ts'

/** A mistake that changes these parts of a record. */
export const mutant = <O>(
  name: string,
  breaks: string,
  plant: (observed: O) => Partial<NoInfer<O>>,
): Mutant<O> => ({
  name,
  breaks,
  plant: (observed) => ({ ...observed, ...plant(observed) }),
})

/** The items, with the first of them changed, or the one at this position. */
export const changeOne = <T>(items: readonly T[], change: (item: T) => T, at = 0): T[] =>
  items.map((item, index) => (index === at ? change(item) : item))

/** An operation ends with this status, and it is unknown whether it was done. */
export const failedOperation = <O extends { operations: Operation[] }>(
  name: string,
  breaks: string,
  status: number,
): Mutant<O> => ({
  name,
  breaks,
  plant: (observed) => ({
    ...observed,
    operations: changeOne(observed.operations, (one) => ({ ...one, status, outcome: 'unknown' })),
  }),
})

/** A call of the ESB ends with a status that nobody promised. */
export const wrongStatus = <O extends { calls: { status: number }[] }>(): Mutant<O> => ({
  name: 'a caller gets a 500',
  breaks: 'wrong_status',
  plant: (observed) => ({
    ...observed,
    calls: changeOne(observed.calls, (call) => ({ ...call, status: 500 })),
  }),
})

/** A socket comes back a minute later than it did. */
export const lateSocket = <O extends { events: { kind: string; at: number }[] }>(
  name: string,
): Mutant<O> => ({
  name,
  breaks: 'late',
  plant: (observed) => {
    const last = observed.events.findLastIndex(({ kind }) => kind === 'hello')
    const events = changeOne(observed.events, (event) => ({ ...event, at: event.at + 60_000 }), last)
    return { ...observed, events }
  },
})
