// Mistakes that several kinds of scenarios plant in their records.
import type { Operation } from './recorder.ts'
import type { Mutant } from './row.ts'

/** Creates a mistake that replaces parts of a record. */
export const mutant = <O>(
  name: string,
  breaks: string,
  plant: (observed: O) => Partial<NoInfer<O>>,
): Mutant<O> => ({
  name,
  breaks,
  plant: (observed) => ({ ...observed, ...plant(observed) }),
})

/** Returns the items with one item changed, by default the first. */
export const changeOne = <T>(items: readonly T[], change: (item: T) => T, at = 0): T[] =>
  items.map((item, index) => (index === at ? change(item) : item))

/** Creates a mistake in which an operation ends with this status and an unknown outcome. */
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

/** Creates a mistake in which an ESB call ends with a status that is not allowed. */
export const wrongStatus = <O extends { calls: { status: number }[] }>(): Mutant<O> => ({
  name: 'a caller receives a 500',
  breaks: 'wrong_status',
  plant: (observed) => ({
    ...observed,
    calls: changeOne(observed.calls, (call) => ({ ...call, status: 500 })),
  }),
})

/** Creates a mistake in which a socket reconnects one minute later than it did. */
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
