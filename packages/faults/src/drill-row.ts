// Wraps a drill as a fault scenario. A drill sets up its own stage and load. Its record determines the result.
import type { RowOptions, Log } from './base.ts'
import { type Mutant, type Row, tryMutant, watchStolen, withTimeout } from './row.ts'
import type { Verdict } from './verdict.ts'

type DrillRow<Seen> = {
  id: string
  title: string
  limitSeconds: number
  play: (options: RowOptions, log: Log) => Promise<{ seen: Seen; verdict: Verdict }>
  judge: (seen: Seen) => Verdict
  mutants: readonly Mutant<Seen>[]
}

/** Creates a scenario that runs the drill and then tests its mutants. */
export const defineDrillRow = <Seen>(definition: DrillRow<Seen>): Row => {
  const { id, title, limitSeconds, play, judge, mutants } = definition
  return {
    id,
    title,
    schedule: () => [],
    play: async (options, log) => {
      const stolen = watchStolen()
      const { seen, verdict } = await withTimeout(limitSeconds, play(options, log))
      const coresStolen = stolen()
      const tried = mutants.map((mutant) => tryMutant(mutant, seen, judge))
      return { verdict, mutants: tried, timeline: null, coresStolen }
    },
  }
}
