// A row of the programme: what it does to the service, what it observes, and what must hold of that. Each brings mutants:
// its own history with a planted mistake, in which its checkers have to find it.
import { readFileSync, writeFileSync } from 'node:fs'
import type { Base, RowOptions, Say } from './base.ts'
import { stolenMs } from './cpu.ts'
import { type CommsSetup, type CommsStage, openCommsStage } from './comms-stage.ts'
import { type MakeSchedule, type Schedule, planSchedule } from './schedule.ts'
import { type Setup, type Stage, openStage } from './stage.ts'
import type { Timeline } from './timeline.ts'
import type { Verdict } from './verdict.ts'

/** A mistake, and the figure that has to show it. */
export type Mutant<Observed> = { name: string; breaks: string; plant: (observed: Observed) => Observed }
type Definition<Observed, S, D> = {
  id: string
  title: string
  /** The faults, drawn from a stream of the seed that is used for nothing else. */
  schedule?: MakeSchedule
  setup: (options: RowOptions, schedule: Schedule) => D
  /** After this the row has failed. */
  limitSeconds: number
  observe: (stage: S, schedule: Schedule) => Promise<Observed>
  judge: (observed: Observed) => Verdict
  mutants: readonly Mutant<Observed>[]
  /** What is drawn of it. */
  timeline?: (observed: Observed) => Omit<Timeline, 'title'>
}
export type MutantResult = { name: string; breaks: string; isFound: boolean; figures: string[] }
export type RowResult = {
  verdict: Verdict
  mutants: MutantResult[]
  timeline: Timeline | null
  /** How many cores, on average, the host gave to others meanwhile. */
  coresStolen: number
}
export type Row = {
  id: string
  title: string
  /** The faults that follow from the seed. */
  schedule: (options: RowOptions) => Schedule
  play: (options: RowOptions, say: Say) => Promise<RowResult>
}

/** A row about triggers. */
export const defineRow = <Observed>(definition: Definition<Observed, Stage, Setup>): Row =>
  playedOn(openStage, definition)

/** A row about notifications and hints. */
export const defineCommsRow = <Observed>(definition: Definition<Observed, CommsStage, CommsSetup>): Row =>
  playedOn(openCommsStage, definition)

/** Makes a row that can be played: on a stage of its own, within its time. */
export function playedOn<Observed, S extends Base, D>(
  open: (setup: D, options: RowOptions, say: Say) => Promise<S>,
  definition: Definition<Observed, S, D>,
): Row {
  const { id, title, setup, limitSeconds, observe, judge, mutants, timeline } = definition
  const schedule = (options: RowOptions): Schedule => planSchedule(id, options, definition.schedule)
  return {
    id,
    title,
    schedule,
    play: async (options, say) => {
      const planned = schedule(options)
      const stage = await open(setup(options, planned), options, say)
      let hasFailed = true
      try {
        const stolen = watchStolen()
        const observed = await within(limitSeconds, observe(stage, planned))
        const verdict = judge(observed)
        const coresStolen = stolen()
        verdict.figures.push(`log_errors=${countErrors(stage)}`)
        hasFailed = verdict.broken.length > 0
        if (hasFailed || options.keep) writeFileSync(`${stage.folder}/record.json`, JSON.stringify(observed))
        return {
          verdict,
          mutants: mutants.map((mutant) => tryMutant(mutant, observed, judge)),
          timeline: timeline === undefined ? null : { title: `${id}: ${title}`, ...timeline(observed) },
          coresStolen,
        }
      } finally {
        await stage.close(hasFailed || options.keep)
      }
    },
  }
}

/** Lines of the replicas' logs that tell of an error; for who looks further, since some faults bring them. */
const countErrors = ({ replicas }: Base): number =>
  replicas.reduce(
    (sum, { logFile }) => sum + readFileSync(logFile, 'utf8').split('"level":"error"').length - 1,
    0,
  )

/** How many cores, on average from now on, the host gave to others: timings of a row that had too few say little. */
export function watchStolen(): () => number {
  const [stolenBefore, start] = [stolenMs(), performance.now()]
  return () => (stolenMs() - stolenBefore) / (performance.now() - start)
}

/** Plants the mistake and looks whether the figure shows it, which it must not have done before. */
export function tryMutant<Observed>(
  { name, breaks, plant }: Mutant<Observed>,
  observed: Observed,
  judge: (observed: Observed) => Verdict,
): MutantResult {
  const isBroken = (verdict: Verdict): boolean => verdict.broken.some(({ figure }) => figure === breaks)
  try {
    const verdict = judge(plant(structuredClone(observed)))
    const shown = verdict.figures.filter((figure) => figure.startsWith(`${breaks}=`))
    return { name, breaks, isFound: isBroken(verdict) && !isBroken(judge(observed)), figures: shown }
  } catch (error) {
    // A record may lack what the mistake is planted in, and then nothing was shown.
    return { name, breaks, isFound: false, figures: [(error as Error).message] }
  }
}

/** Gives up after this time. */
export async function within<T>(seconds: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`took longer than ${seconds} s`)), seconds * 1_000)
  // What goes on after that fails, since its replicas are ended; nobody waits for it any more.
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
