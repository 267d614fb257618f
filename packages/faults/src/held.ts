// Determines which jobs a replica had claimed at the time of the fault.
import { pause } from './children.ts'
import type { Run } from './recorder.ts'
import { type ActiveJob, type Stage, readActiveJobs } from './stage.ts'

// Backends respond within this time, but the claims of a lost replica last longer.
const settledMs = 2_500

/**
 * Returns the attempts of the affected replica: those that do not change while all other attempts finish. Call
 * this function right after the fault.
 */
export async function readHeldJobs(stage: Stage): Promise<ActiveJob[]> {
  const atTheHit = await readActiveJobs(stage)
  await pause(settledMs)
  const later = new Set((await readActiveJobs(stage)).map(({ id, claims }) => `${id} ${claims}`))
  return atTheHit.filter(({ id, claims }) => later.has(`${id} ${claims}`))
}

/**
 * Returns the runs of these attempts. Each trigger has one run here, so the trigger id also identifies the
 * run.
 */
export const runsOf = (jobs: readonly ActiveJob[], runs: readonly Run[]): Run[] => {
  const named = new Set(jobs.flatMap(({ data }) => data.match(/[0-9a-f-]{36}/g) ?? []))
  return runs.filter(({ id, triggerId }) => named.has(id) || named.has(triggerId))
}
