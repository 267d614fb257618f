// A call keeps its caller's connection until it is answered, and who sends a body decides when that is. The connections of
// the port are for everybody: the callers of one project have a share of them.
import { unavailable } from '../../platform/errors.ts'

/** A function that begins a call of a project, and answers how to end it; throws 503 while too many are under way. */
export function createCallLimit(maxPerProject: number): (projectId: string) => () => void {
  const underway = new Map<string, number>()
  return (projectId) => {
    const calls = (underway.get(projectId) ?? 0) + 1
    if (calls > maxPerProject) throw unavailable('too many calls of this project are under way; try again')
    underway.set(projectId, calls)
    return () => {
      const left = (underway.get(projectId) ?? 1) - 1
      if (left === 0) underway.delete(projectId)
      else underway.set(projectId, left)
    }
  }
}
