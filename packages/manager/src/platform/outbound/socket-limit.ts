// Connections to upstreams share the files a process may have open: all partners of a purpose together have a fixed
// number of connections, and one project at most half of them, so that the others keep theirs.
import type { buildConnector } from 'undici'
import { unavailable } from '../errors.ts'

type Connector = buildConnector.connector
/** The connector of a project, refusing with 503 while too many connections are open or being opened. */
export type LimitSockets = (projectId: string, connect: Connector) => Connector

/** `max` connections of all projects together; the refusal says to which `destinations`. */
export function createSocketLimit(max: number, destinations: string): LimitSockets {
  const perProject = Math.max(1, Math.floor(max / 2))
  const open = new Map<string, number>()
  let total = 0
  const count = (projectId: string, change: 1 | -1): void => {
    total += change
    const own = (open.get(projectId) ?? 0) + change
    if (own === 0) open.delete(projectId)
    else open.set(projectId, own)
  }
  return (projectId, connect) => (options, callback) => {
    if (total >= max || (open.get(projectId) ?? 0) >= perProject)
      return process.nextTick(
        callback,
        unavailable(`too many connections to ${destinations} are open; try again`),
        null,
      )
    count(projectId, 1)
    connect(options, (...result) => {
      if (result[0] === null) result[1].once('close', () => count(projectId, -1))
      else count(projectId, -1)
      callback(...result)
    })
  }
}
