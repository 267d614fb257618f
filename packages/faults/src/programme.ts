// Plays rows one after the other, prints what each found, and keeps what was played.
import type { RowOptions } from './base.ts'
import type { MutantResult, Row, RowResult } from './row.ts'
import { type Schedule, areSame, digestOf } from './schedule.ts'
import type { Timeline } from './timeline.ts'
import type { Verdict } from './verdict.ts'

/** A row that was played. */
export type Played = {
  id: string
  title: string
  seed: number
  /** Which time it is, of several with the same seed. */
  round: number
  schedule: Schedule
  seconds: number
  isGood: boolean
  /** Null when it did not come to an end. */
  verdict: Verdict | null
  error: string | null
  mutants: readonly MutantResult[]
  timeline: Timeline | null
  coresStolen: number
}
type Print = (line: string) => void

const tell = (id: string, text: string): void => void process.stderr.write(`${id}: ${text}\n`)

/** Plays a row once and prints its line, and one for each of its mutants. */
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
    result = await row.play(options, (text) => tell(id, text))
  } catch (error) {
    const { message } = error as Error
    print(`FAULT ${id} schedule=${digestOf(schedule)} seed=${options.seed} FAIL`)
    tell(id, message)
    return played({ schedule, verdict: null, error: message, mutants: [], timeline: null, coresStolen: 0 })
  }
  const { verdict, mutants, coresStolen } = result
  const ending = `cores_stolen=${coresStolen.toFixed(2)} schedule=${digestOf(schedule)} seed=${options.seed} ${verdict.broken.length === 0 ? 'PASS' : 'FAIL'}`
  print(`FAULT ${id} ${verdict.figures.join(' ')} ${ending}`)
  for (const { figure, details } of verdict.broken) tell(id, `${figure}: ${details}`)
  for (const { name, isFound, figures } of mutants)
    print(`MUTANT ${id} "${name}" ${figures.join(' ')} ${isFound ? 'FOUND' : 'NOT FOUND'}`)
  return played({ schedule, error: null, ...result })
}

// From here on, times and rates are the machine's rather than the service's.
const stolenTooMuch = 0.3

/** Only bounds are broken, and the host gave a good part of the machine to others: what must not be did not happen. */
function saysLittle({ verdict, mutants, coresStolen }: Played): boolean {
  if (coresStolen <= stolenTooMuch || verdict === null || verdict.broken.length === 0) return false
  const broken = new Set(verdict.broken.map(({ figure }) => figure))
  // A mistake cannot be found by a figure that is broken already; any other has to be.
  const areFound = mutants.every(({ isFound, breaks }) => isFound || broken.has(breaks))
  return areFound && verdict.broken.every(({ isBound }) => isBound)
}

/** Plays a row, and once more if its first play says little. */
async function playFairly(row: Row, options: RowOptions, round: number, print: Print): Promise<Played> {
  const first = await playOnce(row, options, round, print)
  if (!saysLittle(first)) return first
  print(`AGAIN ${row.id} because the host took ${first.coresStolen.toFixed(2)} cores`)
  return playOnce(row, options, round, print)
}

type Programme = {
  rows: readonly Row[]
  options: RowOptions
  /** How often each is played with the same seed. */
  repeat: number
  print: Print
  /** Called after each row, so that what was played is kept when a later one does not end. */
  keep: (played: readonly Played[]) => void
}

/** Plays them all; a row that is played several times must have the same schedule each time. */
export async function playAll({ rows, options, repeat, print, keep }: Programme): Promise<Played[]> {
  const all: Played[] = []
  for (const row of rows) {
    const rounds: Played[] = []
    for (let round = 1; round <= repeat; round++) {
      rounds.push(await playFairly(row, options, round, print))
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
