// Connections to upstreams share the files a process may have open: however many partners there are, together they have
// so many.
import type { buildConnector } from 'undici'
import { unavailable } from '../errors.ts'

/** The connector, refusing with 503 while `max` of its connections are open or being opened. */
export function limitSockets(connect: buildConnector.connector, max: number): buildConnector.connector {
  let open = 0
  return (options, callback) => {
    if (open >= max)
      return process.nextTick(
        callback,
        unavailable('too many connections to endpoints are open; try again'),
        null,
      )
    open++
    connect(options, (...result) => {
      if (result[0] === null) result[1].once('close', () => open--)
      else open--
      callback(...result)
    })
  }
}
