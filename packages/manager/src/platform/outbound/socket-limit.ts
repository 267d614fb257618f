// Connections to upstreams count toward the open file limit of the process. All connections for one kind of call share
// a fixed limit, which is divided fairly among projects.
import type { buildConnector } from 'undici'
import { type Lease, createFairShare } from '../throttle/fair-share.ts'

type Connector = buildConnector.connector
type ConnectArguments = Parameters<Connector>
/** Wraps the connector of a project; it fails with 503 while too many connections are open or being opened. */
export type LimitSockets = (projectId: string, connect: Connector) => Connector

const maxWaiting = 10_000
const maxWaitMs = 1_000

/** `max` is the total limit for all projects; the error message names the `destinations`. */
export function createSocketLimit(max: number, destinations: string): LimitSockets {
  const slots = createFairShare({
    capacity: max,
    maxWaiting,
    maxWaitMs,
    overloadMessage: `too many connections to ${destinations} are open; try again`,
  })
  const openConnection = async (
    projectId: string,
    connect: Connector,
    [options, callback]: ConnectArguments,
  ): Promise<void> => {
    let slot: Lease
    try {
      slot = await slots.take([projectId])
    } catch (error) {
      return callback(error as Error, null)
    }
    connect(options, (...result) => {
      if (result[0] === null) result[1].once('close', slot.release)
      else slot.release()
      callback(...result)
    })
  }
  return (projectId, connect) =>
    (...connectArguments) =>
      void openConnection(projectId, connect, connectArguments)
}
