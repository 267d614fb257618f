// Connections to upstreams share the files a process may have open: all partners of a purpose together have a fixed
// number of connections, which projects share fairly.
import type { buildConnector } from 'undici'
import { type Lease, createFairShare } from '../throttle/fair-share.ts'

type Connector = buildConnector.connector
type Opening = Parameters<Connector>
/** The connector of a project, refusing with 503 while too many connections are open or being opened. */
export type LimitSockets = (projectId: string, connect: Connector) => Connector

const maxWaiting = 10_000
const maxWaitMs = 1_000

/** `max` connections of all projects together; the refusal says to which `destinations`. */
export function createSocketLimit(max: number, destinations: string): LimitSockets {
  const places = createFairShare({
    capacity: max,
    maxWaiting,
    maxWaitMs,
    full: `too many connections to ${destinations} are open; try again`,
  })
  const open = async (projectId: string, connect: Connector, [options, callback]: Opening): Promise<void> => {
    let place: Lease
    try {
      place = await places.take([projectId])
    } catch (error) {
      return callback(error as Error, null)
    }
    connect(options, (...result) => {
      if (result[0] === null) result[1].once('close', place.release)
      else place.release()
      callback(...result)
    })
  }
  return (projectId, connect) =>
    (...opening) =>
      void open(projectId, connect, opening)
}
