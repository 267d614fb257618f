// What a replica had in its hands when it was hit.
import { pause } from './children.ts'
import type { Run } from './recorder.ts'
import { type ActiveJob, type Stage, readActiveJobs } from './stage.ts'

// Backends answer sooner than that, and the claims of a lost replica last longer.
const settledMs = 2_500

/**
 * The attempts of the replica that was just hit: those that nobody has touched for a moment in which all others were
 * finished. Call it right after the signal.
 */
export async function readHeldJobs(stage: Stage): Promise<ActiveJob[]> {
  const atTheHit = await readActiveJobs(stage)
  await pause(settledMs)
  const later = new Set((await readActiveJobs(stage)).map(({ id, claims }) => `${id} ${claims}`))
  return atTheHit.filter(({ id, claims }) => later.has(`${id} ${claims}`))
}

/** The runs that these attempts are of; each trigger has one run here, so that its id tells the run as well. */
export const runsOf = (jobs: readonly ActiveJob[], runs: readonly Run[]): Run[] => {
  const named = new Set(jobs.flatMap(({ data }) => data.match(/[0-9a-f-]{36}/g) ?? []))
  return runs.filter(({ id, triggerId }) => named.has(id) || named.has(triggerId))
}
