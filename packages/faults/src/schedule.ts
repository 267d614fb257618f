// The faults of a row, planned before its load starts. They follow from the seed alone: the stream of numbers they are drawn
// from is used for nothing else, so the same seed does the same to the service, however its answers interleave.
import { createHash } from 'node:crypto'
import type { RowOptions } from './base.ts'
import { pause } from './children.ts'
import { createRandom, seedOf } from './random.ts'

/** What a row has at its own size, and at the short one. */
export const bySize = <T>({ size }: Pick<RowOptions, 'size'>, full: T, short: T): T =>
  size === 'full' ? full : short

/** What is done to whom, and when after the start of the load; the row says what its targets are. */
export type Step = { atMs: number; what: string; target?: string | number }
export type Schedule = readonly Step[]
export type MakeSchedule = (random: () => number, options: RowOptions) => Schedule

/** The schedule of this row for these options; throws when it does not follow from the seed. */
export function planSchedule(id: string, options: RowOptions, make: MakeSchedule = () => []): Schedule {
  const plan = (): Schedule => make(createRandom(seedOf(`${id} ${options.seed}`)), options)
  const schedule = plan()
  if (!areSame([schedule, plan()])) throw new Error(`the schedule of ${id} does not follow from the seed`)
  return schedule
}

/** Whether all of these are one schedule. */
export const areSame = (schedules: readonly Schedule[]): boolean =>
  new Set(schedules.map((schedule) => JSON.stringify(schedule))).size <= 1

/** Tells one schedule from another, for people. */
export const digestOf = (schedule: Schedule): string =>
  schedule.length === 0
    ? 'none'
    : createHash('sha256').update(JSON.stringify(schedule)).digest('hex').slice(0, 8)

/** The step of this name; throws when there is none. */
export function stepOf(schedule: Schedule, what: string): Step {
  const step = schedule.find((one) => one.what === what)
  if (step === undefined) throw new Error(`no step of the schedule is called ${what}`)
  return step
}

/** The item that a step with a number as its target is about; throws when there is none. */
export function targetOf<T>(items: readonly T[], { what, target }: Step): T {
  const item = items[Number(target)]
  if (item === undefined) throw new Error(`there is no target ${target} of ${what}`)
  return item
}

/** Waits until the time of the step, of a load that started then. */
export const reach = ({ atMs }: Step, startedAt: number): Promise<void> =>
  pause(Math.max(0, startedAt + atMs - Date.now()))
