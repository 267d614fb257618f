// Batches concurrent reads and writes into shared statements. While a statement is in flight, further keys are
// collected, so the number of statements depends on round trips, not on requests. A statement always starts after the
// requests that need it, so a revocation applies to every request that starts after it.
import { unavailable } from '../errors.ts'
import { isUnreachable } from './db-errors.ts'
import { runShared } from './owner.ts'

type Waiter<Row> = { resolve: (row: Row | null) => void; reject: (error: unknown) => void }
type Entry<Key, Row> = { key: Key; waitingSince: number; waiters: Waiter<Row>[] }
type PendingKeys<Key, Row> = Map<string, Entry<Key, Row>>

/** The statement and the limits for batching keys. */
export type CoalescerOptions<Key, Row> = {
  /** Identity of a key; equal keys are read once. */
  getKey: (key: Key) => string
  /** Runs the statement; returns one row or null for each key, in the order of the keys. */
  run: (keys: Key[]) => Promise<(Row | null)[]>
  /** Owner of a key. Owners take turns, so that no owner waits behind all keys of another owner. */
  getOwner?: (key: Key) => string
  /** Maximum number of keys per statement, 256 by default; lower it if rows can be large. */
  maxBatch?: number
  /** Cost of a key and the limit per statement. A key that exceeds the limit gets a separate statement. */
  weight?: { compute: (key: Key) => number; max: number }
  /** Maximum number of waiting requests, 10,000 by default; lower it if keys can be large. */
  maxWaiting?: number
  /** Concurrent statements; 2 by default, so that the database runs one while this process handles the other. */
  maxConcurrent?: 1 | 2
  /** Minimum time between the starts of two statements. Use it for writes that can wait to share a statement. */
  minGapMs?: number
}

// A statement that takes longer than this, for example because of a dead connection or a lock, no longer blocks the
// next statements.
const stallMs = 100
const maxInFlight = 4
// If the database is unreachable, requests that have waited this long for a statement to start fail immediately.
const maxWaitAfterFailureMs = 500
const maxExtraTurns = 3
const minKeysForSecond = 8

/** Returns a function that runs the statement for one key, batched with the keys of concurrent requests. */
export function createCoalescer<Key, Row>(
  options: CoalescerOptions<Key, Row>,
): (key: Key) => Promise<Row | null> {
  const { maxBatch = 256, maxWaiting = 10_000, maxConcurrent = 2, minGapMs = 0 } = options
  const pendingKeys: PendingKeys<Key, Row> = new Map()
  let [waitingCount, inFlight, stalledCount] = [0, 0, 0]
  let isScheduled = false
  const [spacer, turns] = [createSpacer(minGapMs), createTurns<Key>(options.getOwner)]

  const schedule = (): void => {
    const activeCount = inFlight - stalledCount
    const isBusy = activeCount >= maxConcurrent || (activeCount === 1 && pendingKeys.size < minKeysForSecond)
    if (isScheduled || isBusy || inFlight >= maxInFlight || pendingKeys.size === 0) return
    isScheduled = true
    spacer.callAfterGap(() => collect(waitingCount, maxExtraTurns))
  }
  /** Collects keys until the end of this event loop turn, and for a few more turns while further keys arrive. */
  const collect = (oldCount: number, turns: number): void => {
    setImmediate(() => (waitingCount > oldCount && turns > 0 ? collect(waitingCount, turns - 1) : flush()))
  }
  // This function is async because an exception in an event loop callback would crash the process.
  const run = async (keys: Key[]): Promise<(Row | null)[]> => runShared(() => options.run(keys))
  const flush = (): void => {
    isScheduled = false
    spacer.markStart()
    const targetCount = Math.max(minKeysForSecond, Math.ceil(pendingKeys.size / maxConcurrent))
    const batch = takeBatch(pendingKeys, Math.min(maxBatch, targetCount), { ...options, turns })
    let isStalled = false
    inFlight++
    schedule()
    const stallTimer = setTimeout(() => {
      isStalled = true
      stalledCount++
      schedule()
    }, stallMs)
    const settleBatch = (settleWaiter: (waiter: Waiter<Row>, index: number) => void): void => {
      clearTimeout(stallTimer)
      inFlight--
      if (isStalled) stalledCount--
      for (const [index, { waiters }] of batch.entries()) {
        waitingCount -= waiters.length
        for (const waiter of waiters) settleWaiter(waiter, index)
      }
      schedule()
    }
    run(batch.map(({ key }) => key)).then(
      (rows) => settleBatch((waiter, index) => waiter.resolve(rows[index] ?? null)),
      (error: unknown) => {
        waitingCount -= failOverdueRequests(pendingKeys, error)
        settleBatch((waiter) => waiter.reject(error))
      },
    )
  }
  return (key) => {
    if (waitingCount >= maxWaiting)
      return Promise.reject(unavailable('too many requests are waiting for the database; try again'))
    waitingCount++
    const row = addWaiter(pendingKeys, options.getKey(key), key)
    schedule()
    return row
  }
}

/** Adds a waiter for the row of the key. */
function addWaiter<Key, Row>(
  pendingKeys: PendingKeys<Key, Row>,
  name: string,
  key: Key,
): Promise<Row | null> {
  const waiter = Promise.withResolvers<Row | null>()
  const entry = pendingKeys.get(name)
  if (entry === undefined) pendingKeys.set(name, { key, waitingSince: performance.now(), waiters: [waiter] })
  else entry.waiters.push(waiter)
  return waiter.promise
}

/** Rejects requests that have waited long, because they would wait for another timeout; returns their number. */
function failOverdueRequests<Key, Row>(pendingKeys: PendingKeys<Key, Row>, cause: unknown): number {
  if (!isUnreachable(cause)) return 0
  const overdueEntries = [...pendingKeys].filter(
    ([, { waitingSince }]) => performance.now() - waitingSince >= maxWaitAfterFailureMs,
  )
  const rejectedWaiters = overdueEntries.flatMap(([name, { waiters }]) => (pendingKeys.delete(name), waiters))
  const error = unavailable('the database is not responding; try again', cause)
  for (const waiter of rejectedWaiters) waiter.reject(error)
  return rejectedWaiters.length
}

/** Returns the rows ordered by their `position`, which starts at 1; missing rows are null. */
export function orderByPosition<Row extends object>(
  count: number,
  rows: readonly (Row & { position: number })[],
): (Row | null)[] {
  const orderedRows = Array.from<Row | null>({ length: count }).fill(null)
  for (const { position, ...row } of rows) orderedRows[position - 1] = row as unknown as Row
  return orderedRows
}

/** Spaces the starts of statements: `callAfterGap` calls back when `minGapMs` has passed since the last start. */
function createSpacer(minGapMs: number) {
  let nextStartAt = 0
  return {
    markStart: (): void => void (nextStartAt = performance.now() + minGapMs),
    callAfterGap: (callback: () => void): void => {
      const waitMs = nextStartAt - performance.now()
      if (waitMs > 0) setTimeout(callback, waitMs)
      else callback()
    },
  }
}

/** Removes and returns the oldest keys, alternating between owners. */
function takeBatch<Key, Row>(
  pendingKeys: PendingKeys<Key, Row>,
  count: number,
  { weight, turns }: Pick<CoalescerOptions<Key, Row>, 'weight'> & { turns: Turns<Key> },
) {
  const batch = []
  let total = 0
  for (const [name, entry] of turns.iterateInTurn(pendingKeys)) {
    total += weight?.compute(entry.key) ?? 0
    if (batch.length === count || (batch.length > 0 && weight !== undefined && total > weight.max)) break
    batch.push(entry)
    pendingKeys.delete(name)
  }
  turns.recordServed(batch)
  return batch
}

type Turns<Key> = ReturnType<typeof createTurns<Key>>

/** Tracks when each waiting owner was last served; the least recently served owner is next. */
function createTurns<Key>(ownerOf: ((key: Key) => string) | undefined) {
  let servedAt = new Map<string, number>()
  let now = 0
  type Entries<Entry> = Iterable<[string, Entry]>
  function* iterateInTurn<Entry extends { key: Key }>(pendingKeys: Entries<Entry>): Entries<Entry> {
    if (ownerOf === undefined) return yield* pendingKeys
    const entriesByOwner = Map.groupBy(pendingKeys, ([, { key }]) => ownerOf(key))
    servedAt = new Map([...entriesByOwner.keys()].map((owner) => [owner, servedAt.get(owner) ?? 0]))
    const getServedAt = (owner: string): number => servedAt.get(owner) ?? 0
    let queues = [...entriesByOwner]
      .toSorted(([a], [b]) => getServedAt(a) - getServedAt(b))
      .map(([, queue]) => queue)
    for (let round = 0; queues.length > 0; round++) {
      for (const queue of queues) yield queue[round] as [string, Entry]
      queues = queues.filter(({ length }) => length > round + 1)
    }
  }
  const recordServed = (batch: readonly { key: Key }[]): void => {
    if (ownerOf === undefined) return
    now++
    for (const { key } of batch) servedAt.set(ownerOf(key), now)
  }
  return { iterateInTurn, recordServed }
}
