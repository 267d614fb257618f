// Runs many reads with a limited number of concurrent requests.
import { ConnectionError } from '@manager/client'

export type RequestLimit = <Result>(send: () => Promise<Result>) => Promise<Result>

// The Manager runs the requests of one person in turns. A few concurrent requests hide the network latency.
const maxRequests = 6

/**
 * Returns a function that limits the number of concurrent requests. If the connection fails, all waiting requests fail
 * with that error, and none of them is sent.
 */
export function createRequestLimit(): RequestLimit {
  const waiting: (() => void)[] = []
  let freeSlots = maxRequests
  let failure: ConnectionError | null = null
  return async (send) => {
    if (freeSlots === 0) await new Promise<void>((resolve) => waiting.push(resolve))
    else freeSlots--
    try {
      if (failure !== null) throw failure
      return await send()
    } catch (error) {
      if (error instanceof ConnectionError) failure = error
      throw error
    } finally {
      // The next request takes over the slot.
      const next = waiting.shift()
      if (next === undefined) freeSlots++
      else next()
    }
  }
}

/** Converts all items concurrently. After errors, throws the error of the first item that failed. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  convert: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const outcomes = await Promise.allSettled(items.map(convert))
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}
