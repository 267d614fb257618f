// A call keeps its connection until it is answered, and a caller that sends a body slowly delays that. The port's
// connections are shared by all projects: the callers of one project may use a part of them.
import { unavailable } from '../../platform/errors.ts'

/**
 * Returns a function that begins a project's call and returns how to end it; throws 503 when too many are in flight.
 */
export function createCallLimit(maxPerProject: number): (projectId: string) => () => void {
  const inFlight = new Map<string, number>()
  return (projectId) => {
    const calls = (inFlight.get(projectId) ?? 0) + 1
    if (calls > maxPerProject) throw unavailable('too many calls of this project are in flight; try again')
    inFlight.set(projectId, calls)
    return () => {
      const left = (inFlight.get(projectId) ?? 1) - 1
      if (left === 0) inFlight.delete(projectId)
      else inFlight.set(projectId, left)
    }
  }
}
