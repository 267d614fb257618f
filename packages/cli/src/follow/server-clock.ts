// Estimates the time of the server from the Date header of its responses. The clock of this machine may be wrong.
import type { Connection } from '@manager/client'

export type ServerClock = {
  /** A connection that updates the clock with each response. */
  connection: Connection
  /** The time of the server in milliseconds since 1970. The estimate may be late, but is never early. */
  now: () => number
}

export function createServerClock(connection: Connection): ServerClock {
  // Until the first response, only the local clock is known.
  let offsetMs = Date.now() - performance.now()
  return {
    // The monotonic clock does not follow changes of the local clock.
    now: () => performance.now() + offsetMs,
    connection: {
      ...connection,
      fetch: async (...args) => {
        const response = await connection.fetch(...args)
        const dateMs = Date.parse(response.headers.get('date') ?? '')
        if (!Number.isNaN(dateMs)) offsetMs = dateMs - performance.now()
        return response
      },
    },
  }
}
