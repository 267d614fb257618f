// The quiet phase of a row: nothing is broken any more, and what is in flight comes to its end before anything is judged.
import type { Base, Say } from './base.ts'
import { until } from './children.ts'

type Wait = {
  /** What is waited for, for who watches. */
  what: string
  /** After this it is given up. */
  ms: number
  holds: () => Promise<boolean>
}

/** Waits until it holds; resolves to the seconds it took, or to null when it does not hold in time. */
export async function waitQuietly({ say }: { say: Say }, { what, ms, holds }: Wait): Promise<number | null> {
  const start = Date.now()
  say(`waiting: ${what}`)
  try {
    await until(what, ms, holds)
    return (Date.now() - start) / 1_000
  } catch {
    say(`gave up after ${ms / 1_000} s: ${what}`)
    return null
  }
}

/** Whether every replica that lives says that it is ready. */
export const areReady = async ({ replicas }: Pick<Base, 'replicas'>): Promise<boolean> => {
  const living = replicas.filter((replica) => replica.isAlive())
  const statuses = await Promise.all(
    living.map(async ({ readyUrl }) => {
      const response = await fetch(readyUrl, { signal: AbortSignal.timeout(2_000) })
      await response.text()
      return response.status
    }),
  )
  return statuses.every((status) => status === 200)
}

/**
 * Holds once a number has not changed for so long: of arrivals, for example, when the last has arrived. Each call reads it
 * again.
 */
export function staysSame(read: () => Promise<number>, stillMs: number): () => Promise<boolean> {
  let [last, since] = [Number.NaN, Date.now()]
  return async () => {
    const value = await read()
    if (value !== last) [last, since] = [value, Date.now()]
    return Date.now() - since >= stillMs
  }
}
