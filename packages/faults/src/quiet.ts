// The quiet phase of a scenario: all faults are healed, and work in flight completes before the record is checked.
import type { Base, Log } from './base.ts'
import { until } from './children.ts'

type Wait = {
  /** Description of the condition, for the progress output. */
  what: string
  /** The time after which waiting stops, in milliseconds. */
  ms: number
  holds: () => Promise<boolean>
}

/** Waits until the condition holds. Resolves to the elapsed seconds, or to null after the timeout. */
export async function waitQuietly({ log }: { log: Log }, { what, ms, holds }: Wait): Promise<number | null> {
  const start = Date.now()
  log(`waiting for ${what}`)
  try {
    await until(what, ms, holds)
    return (Date.now() - start) / 1_000
  } catch {
    log(`timed out after ${ms / 1_000} s waiting for ${what}`)
    return null
  }
}

/** Returns whether every running replica is ready. */
export const areReady = async ({ replicas }: Pick<Base, 'replicas'>): Promise<boolean> => {
  const running = replicas.filter((replica) => replica.isAlive())
  const statuses = await Promise.all(
    running.map(async ({ readyUrl }) => {
      const response = await fetch(readyUrl, { signal: AbortSignal.timeout(2_000) })
      await response.text()
      return response.status
    }),
  )
  return statuses.every((status) => status === 200)
}

/**
 * Returns a condition that is true if a number, such as the count of arrivals, has not changed for `stillMs`. Each
 * call reads the number again.
 */
export function staysSame(read: () => Promise<number>, stillMs: number): () => Promise<boolean> {
  let [last, since] = [Number.NaN, Date.now()]
  return async () => {
    const value = await read()
    if (value !== last) [last, since] = [value, Date.now()]
    return Date.now() - since >= stillMs
  }
}
