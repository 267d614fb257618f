// Plans the faults of a scenario before its load starts. Only the seed determines the faults. Nothing else
// uses their random stream, so the same seed always causes the same faults.
import { createHash } from 'node:crypto'
import type { RowOptions } from './base.ts'
import { pause } from './children.ts'
import { createRandom, seedOf } from './random.ts'

/** Selects a value according to the size of the scenario. */
export const bySize = <T>({ size }: Pick<RowOptions, 'size'>, full: T, short: T): T =>
  size === 'full' ? full : short

/** A fault, its target, and its time after the start of the load. Each scenario defines its own targets. */
export type Step = { atMs: number; what: string; target?: string | number }
export type Schedule = readonly Step[]
export type MakeSchedule = (random: () => number, options: RowOptions) => Schedule

/** Creates the schedule of this scenario. Throws if the seed does not determine it. */
export function planSchedule(id: string, options: RowOptions, make: MakeSchedule = () => []): Schedule {
  const plan = (): Schedule => make(createRandom(seedOf(`${id} ${options.seed}`)), options)
  const schedule = plan()
  if (!areSame([schedule, plan()])) throw new Error(`the schedule of ${id} is not determined by the seed`)
  return schedule
}

export const areSame = (schedules: readonly Schedule[]): boolean =>
  new Set(schedules.map((schedule) => JSON.stringify(schedule))).size <= 1

/** Returns a short hash for comparing schedules. */
export const digestOf = (schedule: Schedule): string =>
  schedule.length === 0
    ? 'none'
    : createHash('sha256').update(JSON.stringify(schedule)).digest('hex').slice(0, 8)

/** Returns the first step with this name. Throws if there is none. */
export function stepOf(schedule: Schedule, what: string): Step {
  const step = schedule.find((one) => one.what === what)
  if (step === undefined) throw new Error(`the schedule has no step ${what}`)
  return step
}

/** Returns the item that the numeric target of a step selects. Throws if it does not exist. */
export function targetOf<T>(items: readonly T[], { what, target }: Step): T {
  const item = items[Number(target)]
  if (item === undefined) throw new Error(`step ${what} has no target ${target}`)
  return item
}

/** Waits until a step is due, relative to the start of the load. */
export const waitForStep = ({ atMs }: Step, startedAt: number): Promise<void> =>
  pause(Math.max(0, startedAt + atMs - Date.now()))
