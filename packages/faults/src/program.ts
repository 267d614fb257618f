// Runs scenarios one at a time, prints the findings of each scenario, and keeps the results.
import type { RowOptions } from './base.ts'
import type { MutantResult, Row, RowResult } from './row.ts'
import { type Schedule, areSame, digestOf } from './schedule.ts'
import type { Timeline } from './timeline.ts'
import type { Verdict } from './verdict.ts'

/** The result of one run of a scenario. */
export type Played = {
  id: string
  title: string
  seed: number
  /** The number of this run if a scenario runs several times with the same seed. */
  round: number
  schedule: Schedule
  seconds: number
  isGood: boolean
  /** Null if the scenario did not complete. */
  verdict: Verdict | null
  error: string | null
  mutants: readonly MutantResult[]
  timeline: Timeline | null
  coresStolen: number
}
type Print = (line: string) => void

const printProgress = (id: string, text: string): void => void process.stderr.write(`${id}: ${text}\n`)

/** Runs a scenario once. Prints one line for the scenario and one line for each of its mutants. */
async function playOnce(row: Row, options: RowOptions, round: number, print: Print): Promise<Played> {
  const { id, title } = row
  const start = performance.now()
  const played = (
    more: Omit<RowResult, 'verdict'> & Pick<Played, 'schedule' | 'verdict' | 'error'>,
  ): Played => ({
    id,
    title,
    seed: options.seed,
    round,
    seconds: (performance.now() - start) / 1_000,
    isGood: more.verdict?.broken.length === 0 && more.mutants.every(({ isFound }) => isFound),
    ...more,
  })
  let schedule: Schedule = []
  let result: RowResult
  try {
    schedule = row.schedule(options)
    result = await row.play(options, (text) => printProgress(id, text))
  } catch (error) {
    const { message } = error as Error
    print(`FAULT ${id} schedule=${digestOf(schedule)} seed=${options.seed} FAIL`)
    printProgress(id, message)
    return played({ schedule, verdict: null, error: message, mutants: [], timeline: null, coresStolen: 0 })
  }
  const { verdict, mutants, coresStolen } = result
  const ending = `cores_stolen=${coresStolen.toFixed(2)} schedule=${digestOf(schedule)} seed=${options.seed} ${verdict.broken.length === 0 ? 'PASS' : 'FAIL'}`
  print(`FAULT ${id} ${verdict.figures.join(' ')} ${ending}`)
  for (const { figure, details } of verdict.broken) printProgress(id, `${figure}: ${details}`)
  for (const { name, isFound, figures } of mutants)
    print(`MUTANT ${id} "${name}" ${figures.join(' ')} ${isFound ? 'FOUND' : 'NOT FOUND'}`)
  return played({ schedule, error: null, ...result })
}

// If more cores are stolen than this, times and rates depend on the machine rather than on the service.
const maxCoresStolen = 0.3

/**
 * Returns whether a run is inconclusive: only bounds on times, rates or percentages are violated, and the host
 * withheld much of the CPU time.
 */
function isInconclusive({ verdict, mutants, coresStolen }: Played): boolean {
  if (coresStolen <= maxCoresStolen || verdict === null || verdict.broken.length === 0) return false
  const broken = new Set(verdict.broken.map(({ figure }) => figure))
  // Ignores the mutants of a broken figure, because the figure cannot reveal them. All other mutants must be found.
  const areFound = mutants.every(({ isFound, breaks }) => isFound || broken.has(breaks))
  return areFound && verdict.broken.every(({ isBound }) => isBound)
}

/** Runs a scenario, and repeats it once if the first run is inconclusive. */
async function playWithRetry(row: Row, options: RowOptions, round: number, print: Print): Promise<Played> {
  const first = await playOnce(row, options, round, print)
  if (!isInconclusive(first)) return first
  print(`AGAIN ${row.id}: the host stole ${first.coresStolen.toFixed(2)} cores`)
  return playOnce(row, options, round, print)
}

type Program = {
  rows: readonly Row[]
  options: RowOptions
  /** Number of runs per scenario with the same seed. */
  repeat: number
  print: Print
  /** Called after each run, so that results are saved even if a later scenario does not complete. */
  keep: (played: readonly Played[]) => void
}

/** Runs all scenarios. A scenario that runs several times must have the same schedule each time. */
export async function playAll({ rows, options, repeat, print, keep }: Program): Promise<Played[]> {
  const all: Played[] = []
  for (const row of rows) {
    const rounds: Played[] = []
    for (let round = 1; round <= repeat; round++) {
      rounds.push(await playWithRetry(row, options, round, print))
      keep([...all, ...rounds])
    }
    if (repeat > 1) {
      const isSame = areSame(rounds.map(({ schedule }) => schedule))
      const digests = rounds.map(({ schedule }) => digestOf(schedule)).join(' ')
      print(`SCHEDULE ${row.id} seed=${options.seed} ${digests} ${isSame ? 'SAME' : 'DIFFERENT'}`)
      if (!isSame) for (const one of rounds) one.isGood = false
    }
    all.push(...rounds)
  }
  keep(all)
  return all
}
