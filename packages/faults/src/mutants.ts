// Mistakes that are planted in the history of a row, each of which one of its checkers has to find.
import { randomUUID } from 'node:crypto'
import type { Delivery, Planned, Run } from './recorder.ts'
import type { Mutant } from './row.ts'

export type History = { planned: Planned[]; runs: Run[]; deliveries: Delivery[] }

/** A run that the database calls delivered never reached its backend. */
export const lostDelivery = <H extends History>(): Mutant<H> => ({
  name: 'a delivery is lost',
  breaks: 'lost',
  plant: (history) => {
    const [{ runId }] = history.deliveries as [Delivery]
    return { ...history, deliveries: history.deliveries.filter((delivery) => delivery.runId !== runId) }
  },
})

/** An instant at which a trigger was due has no run. */
export const lostRun = <H extends History>(): Mutant<H> => ({
  name: 'a run is never scheduled',
  breaks: 'lost',
  plant: (history) => {
    const [{ id }] = history.runs as [Run]
    return {
      ...history,
      runs: history.runs.filter((run) => run.id !== id),
      deliveries: history.deliveries.filter(({ runId }) => runId !== id),
    }
  },
})

/** Two replicas scheduled the same instant. */
export const doubleScheduling = <H extends History>(): Mutant<H> => ({
  name: 'an instant is scheduled twice',
  breaks: 'dup_sched',
  plant: (history) => {
    const [run] = history.runs as [Run]
    const sent = history.deliveries.filter(({ runId }) => runId === run.id)
    const id = randomUUID()
    return {
      ...history,
      runs: [...history.runs, { ...run, id }],
      deliveries: [...history.deliveries, ...sent.map((delivery) => ({ ...delivery, runId: id }))],
    }
  },
})

/** A replica sent a run that it could not store any more. */
export const unstoredRun = <H extends History>(): Mutant<H> => ({
  name: 'a run is sent that is stored nowhere',
  breaks: 'dup_sched',
  plant: (history) => {
    const [delivery] = history.deliveries as [Delivery]
    return { ...history, deliveries: [...history.deliveries, { ...delivery, runId: randomUUID() }] }
  },
})

/** More runs are delivered again than the dead replica had in its hands. */
export const redelivery = <H extends History>(heldBy: (history: H) => number): Mutant<H> => ({
  name: 'one delivery more is repeated than was in flight',
  breaks: 'dup_deliv',
  plant: (history) => {
    const repeated = history.deliveries
      .filter(({ status }) => status === 200)
      .slice(0, heldBy(history) + 1)
      .map((delivery) => ({ ...delivery, at: delivery.at + 60_000 }))
    return { ...history, deliveries: [...history.deliveries, ...repeated] }
  },
})

/** A replica that nothing happened to delivers a run twice. */
export const redeliveryOfOthers = <H extends History>(heldBy: (history: H) => string[]): Mutant<H> => ({
  name: 'a run that another replica had is delivered twice',
  breaks: 'dup_of_others',
  plant: (history) => {
    const held = new Set(heldBy(history))
    const other = history.deliveries.find(
      ({ runId, status }) => status === 200 && !held.has(runId),
    ) as Delivery
    return { ...history, deliveries: [...history.deliveries, { ...other, at: other.at + 60_000 }] }
  },
})

/** A replica planned by its own clock. */
export const shiftedInstant = <H extends History>(): Mutant<H> => ({
  name: 'a run is scheduled for another instant',
  breaks: 'instants',
  plant: (history) => {
    const [{ id, scheduledAt }] = history.runs as [Run]
    const moved = scheduledAt + 1_000
    return {
      ...history,
      runs: history.runs.map((run) => (run.id === id ? { ...run, scheduledAt: moved } : run)),
      deliveries: history.deliveries.map((sent) =>
        sent.runId === id ? { ...sent, scheduledAt: moved } : sent,
      ),
    }
  },
})

/** An instant overtakes the one before. */
export const overtaking = <H extends History>(): Mutant<H> => ({
  name: 'a run arrives before the one that was due earlier',
  breaks: 'order',
  plant: (history) => {
    const last = history.runs.at(-1) as Run
    const start = Math.min(...history.deliveries.map(({ at }) => at))
    return {
      ...history,
      deliveries: history.deliveries.map((sent) =>
        sent.runId === last.id ? { ...sent, at: start - 1 } : sent,
      ),
    }
  },
})
