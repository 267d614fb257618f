// A drill as a row of the programme: it brings a stage and a load of its own, and is judged by what it saw.
import type { RowOptions, Say } from './base.ts'
import { type Mutant, type Row, tryMutant, watchStolen, within } from './row.ts'
import type { Verdict } from './verdict.ts'

type DrilledRow<Seen> = {
  id: string
  title: string
  limitSeconds: number
  play: (options: RowOptions, say: Say) => Promise<{ seen: Seen; verdict: Verdict }>
  judge: (seen: Seen) => Verdict
  mutants: readonly Mutant<Seen>[]
}

/** A row that can be played. */
export const defineDrilledRow = <Seen>(definition: DrilledRow<Seen>): Row => {
  const { id, title, limitSeconds, play, judge, mutants } = definition
  return {
    id,
    title,
    schedule: () => [],
    play: async (options, say) => {
      const stolen = watchStolen()
      const { seen, verdict } = await within(limitSeconds, play(options, say))
      const coresStolen = stolen()
      const tried = mutants.map((mutant) => tryMutant(mutant, seen, judge))
      return { verdict, mutants: tried, timeline: null, coresStolen }
    },
  }
}
