// Defines a fault scenario: the fault, the record, and the bounds that the record must satisfy. Each scenario
// has mutants, which are mistakes planted in its own record. The scenario's checkers must find every mutant.
import { readFileSync, writeFileSync } from 'node:fs'
import type { Base, RowOptions, Log } from './base.ts'
import { stolenMs } from './cpu.ts'
import { type CommsSetup, type CommsStage, openCommsStage } from './comms-stage.ts'
import { type MakeSchedule, type Schedule, planSchedule } from './schedule.ts'
import { type Setup, type Stage, openStage } from './stage.ts'
import type { Timeline } from './timeline.ts'
import type { Verdict } from './verdict.ts'

/** A mistake and the figure that must reveal it. */
export type Mutant<Observed> = { name: string; breaks: string; plant: (observed: Observed) => Observed }
type Definition<Observed, S, D> = {
  id: string
  title: string
  /** Plans the faults with a separate random stream. */
  schedule?: MakeSchedule
  setup: (options: RowOptions, schedule: Schedule) => D
  /** The scenario fails after this time. */
  limitSeconds: number
  observe: (stage: S, schedule: Schedule) => Promise<Observed>
  judge: (observed: Observed) => Verdict
  mutants: readonly Mutant<Observed>[]
  /** Returns the timeline to draw. */
  timeline?: (observed: Observed) => Omit<Timeline, 'title'>
}
export type MutantResult = { name: string; breaks: string; isFound: boolean; figures: string[] }
export type RowResult = {
  verdict: Verdict
  mutants: MutantResult[]
  timeline: Timeline | null
  /** Average number of cores that the host gave to other machines during the scenario. */
  coresStolen: number
}
export type Row = {
  id: string
  title: string
  /** Returns the faults that the seed determines. */
  schedule: (options: RowOptions) => Schedule
  play: (options: RowOptions, log: Log) => Promise<RowResult>
}

/** Defines a scenario about triggers. */
export const defineRow = <Observed>(definition: Definition<Observed, Stage, Setup>): Row =>
  createRow(openStage, definition)

/** Defines a scenario about notifications and hints. Hints are best-effort messages. */
export const defineCommsRow = <Observed>(definition: Definition<Observed, CommsStage, CommsSetup>): Row =>
  createRow(openCommsStage, definition)

/** Creates a scenario that runs on its own stage and fails after its time limit. */
export function createRow<Observed, S extends Base, D>(
  open: (setup: D, options: RowOptions, log: Log) => Promise<S>,
  definition: Definition<Observed, S, D>,
): Row {
  const { id, title, setup, limitSeconds, observe, judge, mutants, timeline } = definition
  const schedule = (options: RowOptions): Schedule => planSchedule(id, options, definition.schedule)
  return {
    id,
    title,
    schedule,
    play: async (options, log) => {
      const planned = schedule(options)
      const stage = await open(setup(options, planned), options, log)
      let hasFailed = true
      try {
        const stolen = watchStolen()
        const observed = await withTimeout(limitSeconds, observe(stage, planned))
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

/**
 * Counts error lines in the logs of the replicas. The count is informational, because some faults cause
 * errors.
 */
const countErrors = ({ replicas }: Base): number =>
  replicas.reduce(
    (sum, { logFile }) => sum + readFileSync(logFile, 'utf8').split('"level":"error"').length - 1,
    0,
  )

/**
 * Measures the average number of stolen cores from now on. If the number is high, the timings of a scenario are
 * inconclusive.
 */
export function watchStolen(): () => number {
  const [stolenBefore, start] = [stolenMs(), performance.now()]
  return () => (stolenMs() - stolenBefore) / (performance.now() - start)
}

/** Plants the mistake and checks that it breaks the figure, which must not be broken without the mistake. */
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
    // The record may lack the data that the mistake changes. The mutant then counts as not found.
    return { name, breaks, isFound: false, figures: [(error as Error).message] }
  }
}

/** Rejects if the work takes longer than this time. */
export async function withTimeout<T>(seconds: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`timed out after ${seconds} s`)), seconds * 1_000)
  // After the timeout, the work fails because its replicas are stopped. This failure is ignored.
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
