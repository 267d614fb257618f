// Arranges runs as lanes of environments on one axis of instants.
type PlacedRun = { readonly scheduledAt: string; readonly environment: { readonly id: string } }
type LaneOwner = { readonly id: string; readonly sortOrder: number }

type Timeline<Run, Environment> = {
  /** Oldest first. */
  readonly instants: readonly string[]
  readonly lanes: readonly {
    readonly environment: Environment
    /** The run at each instant; null if there is none. */
    readonly marks: readonly (Run | null)[]
  }[]
}

const maxInstants = 14

/** Uses the newest instants of the runs, which are sorted newest first. Environments without runs have no lane. */
export function listTimeline<Run extends PlacedRun, Environment extends LaneOwner>(
  runs: readonly Run[],
  environments: readonly Environment[],
): Timeline<Run, Environment> {
  const ids = new Set(environments.map(({ id }) => id))
  const shown = runs.filter(({ environment }) => ids.has(environment.id))
  const instants = [...new Set(shown.map(({ scheduledAt }) => scheduledAt))]
    .slice(0, maxInstants)
    .toReversed()
  const lanes = environments
    .toSorted((a, b) => a.sortOrder - b.sortOrder)
    .map((environment) => {
      const own = new Map(
        shown
          .filter((run) => run.environment.id === environment.id)
          .map((run) => [run.scheduledAt, run] as const),
      )
      return { environment, marks: instants.map((instant) => own.get(instant) ?? null) }
    })
    .filter(({ marks }) => marks.some((mark) => mark !== null))
  return { instants, lanes }
}
