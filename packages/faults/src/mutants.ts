// Mistakes that are planted in the history of a scenario. The scenario's checkers must find every mistake.
import { randomUUID } from 'node:crypto'
import type { Delivery, Planned, Run } from './recorder.ts'
import type { Mutant } from './row.ts'

export type History = { planned: Planned[]; runs: Run[]; deliveries: Delivery[] }

/** A run that is stored as delivered never reached its backend. */
export const lostDelivery = <H extends History>(): Mutant<H> => ({
  name: 'a delivery is lost',
  breaks: 'lost',
  plant: (history) => {
    const [{ runId }] = history.deliveries as [Delivery]
    return { ...history, deliveries: history.deliveries.filter((delivery) => delivery.runId !== runId) }
  },
})

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

/** A replica sent a run, but could no longer store it. */
export const unstoredRun = <H extends History>(): Mutant<H> => ({
  name: 'a run is sent but not stored',
  breaks: 'dup_sched',
  plant: (history) => {
    const [delivery] = history.deliveries as [Delivery]
    return { ...history, deliveries: [...history.deliveries, { ...delivery, runId: randomUUID() }] }
  },
})

/** More runs are redelivered than the dead replica had claimed. */
export const redelivery = <H extends History>(heldBy: (history: H) => number): Mutant<H> => ({
  name: 'more deliveries are repeated than were in flight',
  breaks: 'dup_deliv',
  plant: (history) => {
    const repeated = history.deliveries
      .filter(({ status }) => status === 200)
      .slice(0, heldBy(history) + 1)
      .map((delivery) => ({ ...delivery, at: delivery.at + 60_000 }))
    return { ...history, deliveries: [...history.deliveries, ...repeated] }
  },
})

/** An unaffected replica delivers a run twice. */
export const redeliveryOfOthers = <H extends History>(heldBy: (history: H) => string[]): Mutant<H> => ({
  name: 'a run of an unaffected replica is delivered twice',
  breaks: 'dup_of_others',
  plant: (history) => {
    const held = new Set(heldBy(history))
    const other = history.deliveries.find(
      ({ runId, status }) => status === 200 && !held.has(runId),
    ) as Delivery
    return { ...history, deliveries: [...history.deliveries, { ...other, at: other.at + 60_000 }] }
  },
})

/** A replica used its own clock for scheduling. */
export const shiftedInstant = <H extends History>(): Mutant<H> => ({
  name: 'a run is scheduled for the wrong instant',
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

export const overtaking = <H extends History>(): Mutant<H> => ({
  name: 'a run arrives before a run that was due earlier',
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
