// Reads and writes that are requested together share a statement. While one is in flight the next keys gather, so the
// number of statements follows the round trips, not the requests. A statement always begins after the requests that
// need it, which is why a revocation applies to every request that starts after it.
import { unavailable } from '../errors.ts'

type Waiter<Row> = { resolve: (row: Row | null) => void; reject: (error: unknown) => void }
type Gathering<Key, Row> = Map<string, { key: Key; waiters: Waiter<Row>[] }>

export type CoalescedOptions<Key, Row> = {
  /** Tells keys apart; equal ones are read once. */
  keyOf: (key: Key) => string
  /** The statement: what each key leads to, in the order of the keys, null where there is nothing. */
  run: (keys: Key[]) => Promise<(Row | null)[]>
  /** The most keys of one statement; fewer where a row may be large. */
  maxBatch?: number
  /** The most that wait; fewer where a key is large. */
  maxWaiting?: number
  /** Statements at once: two by default, so that the database works on one while this process handles the other. */
  atOnce?: 1 | 2
  /** No statement begins earlier than this after the one before began; for writes that can wait to share one. */
  minGapMs?: number
}

const defaultMaxBatch = 256
const defaultMaxWaiting = 10_000
// A statement that takes longer than this (a dead connection, a lock) no longer blocks the others.
const stallMs = 100
const maxInFlight = 4
const moreTurns = 3
const worthASecond = 8

/** Returns a function that runs the statement for one key together with the others requested meanwhile. */
export function createCoalesced<Key, Row>(
  options: CoalescedOptions<Key, Row>,
): (key: Key) => Promise<Row | null> {
  const { maxBatch = defaultMaxBatch, maxWaiting = defaultMaxWaiting, atOnce = 2, minGapMs = 0 } = options
  const gathering: Gathering<Key, Row> = new Map()
  let [waiting, inFlight, stalled] = [0, 0, 0]
  let isScheduled = false
  const gap = createGap(minGapMs)

  const schedule = (): void => {
    const running = inFlight - stalled
    const isBusy = running >= atOnce || (running === 1 && gathering.size < worthASecond)
    if (isScheduled || isBusy || inFlight >= maxInFlight || gathering.size === 0) return
    isScheduled = true
    gap.after(() => gather(waiting, moreTurns))
  }
  /** Everything that arrives in this turn of the event loop joins, and a few turns more as long as more arrives. */
  const gather = (seen: number, turns: number): void => {
    setImmediate(() => (waiting > seen && turns > 0 ? gather(waiting, turns - 1) : flush()))
  }
  // Async: what throws in a callback of the event loop would end the process.
  const run = async (keys: Key[]): Promise<(Row | null)[]> => options.run(keys)
  const flush = (): void => {
    isScheduled = false
    gap.begin()
    const share = Math.max(worthASecond, Math.ceil(gathering.size / atOnce))
    const batch = takeFrom(gathering, Math.min(maxBatch, share))
    let isStalled = false
    inFlight++
    schedule()
    const stall = setTimeout(() => {
      isStalled = true
      stalled++
      schedule()
    }, stallMs)
    const settle = (each: (waiter: Waiter<Row>, index: number) => void): void => {
      clearTimeout(stall)
      inFlight--
      if (isStalled) stalled--
      for (const [index, { waiters }] of batch.entries()) {
        waiting -= waiters.length
        for (const waiter of waiters) each(waiter, index)
      }
      schedule()
    }
    run(batch.map(({ key }) => key)).then(
      (rows) => settle((waiter, index) => waiter.resolve(rows[index] ?? null)),
      (error: unknown) => settle((waiter) => waiter.reject(error)),
    )
  }
  return (key) => {
    if (waiting >= maxWaiting)
      return Promise.reject(unavailable('too many requests wait for the database; try again'))
    waiting++
    const { promise, resolve, reject } = Promise.withResolvers<Row | null>()
    const name = options.keyOf(key)
    const entry = gathering.get(name)
    if (entry === undefined) gathering.set(name, { key, waiters: [{ resolve, reject }] })
    else entry.waiters.push({ resolve, reject })
    schedule()
    return promise
  }
}

/** Puts rows that tell their position (from 1) in its place; null where there is none. */
export function inPlace<Row extends object>(
  count: number,
  rows: readonly (Row & { position: number })[],
): (Row | null)[] {
  const placed = Array.from<Row | null>({ length: count }).fill(null)
  for (const { position, ...row } of rows) placed[position - 1] = row as unknown as Row
  return placed
}

/** Keeps beginnings apart: `after` calls back at once, or as soon as the last beginning is long enough ago. */
function createGap(minGapMs: number) {
  let endsAt = 0
  return {
    begin: (): void => void (endsAt = performance.now() + minGapMs),
    after: (next: () => void): void => {
      const waitMs = endsAt - performance.now()
      if (waitMs > 0) setTimeout(next, waitMs)
      else next()
    },
  }
}

/** The keys that gathered first. */
function takeFrom<Key, Row>(gathering: Gathering<Key, Row>, count: number) {
  const batch = []
  for (const [name, entry] of gathering) {
    if (batch.length === count) break
    batch.push(entry)
    gathering.delete(name)
  }
  return batch
}
