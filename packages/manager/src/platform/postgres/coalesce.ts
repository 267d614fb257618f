// Batches concurrent reads and writes into shared statements. While a statement is in flight, further keys are
// collected, so the number of statements depends on round trips, not on requests. A statement always starts after the
// requests that need it, so a revocation applies to every request that starts after it.
import { unavailable } from '../errors.ts'
import { isUnreachable } from './db-errors.ts'
import { runShared } from './owner.ts'

type Waiter<Row> = { resolve: (row: Row | null) => void; reject: (error: unknown) => void }
type Entry<Key, Row> = { key: Key; since: number; waiters: Waiter<Row>[] }
type Gathering<Key, Row> = Map<string, Entry<Key, Row>>

/** The statement and the limits for batching keys. */
export type CoalescedOptions<Key, Row> = {
  /** Identity of a key; equal keys are read once. */
  keyOf: (key: Key) => string
  /** Runs the statement; returns one row or null for each key, in the order of the keys. */
  run: (keys: Key[]) => Promise<(Row | null)[]>
  /** Owner of a key. Owners take turns, so that no owner waits behind all keys of another. */
  ownerOf?: (key: Key) => string
  /** Maximum number of keys per statement, 256 by default; lower it if rows can be large. */
  maxBatch?: number
  /** Cost of a key and the limit per statement. A key that exceeds the limit gets a separate statement. */
  weight?: { of: (key: Key) => number; max: number }
  /** Maximum number of waiting requests, 10,000 by default; lower it if keys can be large. */
  maxWaiting?: number
  /** Concurrent statements; 2 by default, so that the database runs one while this process handles the other. */
  maxConcurrent?: 1 | 2
  /** Minimum time between the starts of two statements, for writes that can wait to share a statement. */
  minGapMs?: number
}

// A statement that takes longer than this (a dead connection, a lock) no longer blocks the others.
const stallMs = 100
const maxInFlight = 4
// If the database is unreachable, requests that have waited this long for a statement to start fail immediately.
const maxWaitAfterFailureMs = 500
const maxExtraTurns = 3
const minKeysForSecondStatement = 8

/** Returns a function that runs the statement for one key, batched with the keys of concurrent requests. */
export function createCoalesced<Key, Row>(
  options: CoalescedOptions<Key, Row>,
): (key: Key) => Promise<Row | null> {
  const { maxBatch = 256, maxWaiting = 10_000, maxConcurrent = 2, minGapMs = 0 } = options
  const gathering: Gathering<Key, Row> = new Map()
  let [waiting, inFlight, stalled] = [0, 0, 0]
  let isScheduled = false
  const [spacer, turns] = [createSpacer(minGapMs), createTurns<Key>(options.ownerOf)]

  const schedule = (): void => {
    const running = inFlight - stalled
    const isBusy = running >= maxConcurrent || (running === 1 && gathering.size < minKeysForSecondStatement)
    if (isScheduled || isBusy || inFlight >= maxInFlight || gathering.size === 0) return
    isScheduled = true
    spacer.after(() => gather(waiting, maxExtraTurns))
  }
  /** Collects keys until the end of this event loop turn, and for a few more turns while further keys arrive. */
  const gather = (seen: number, turns: number): void => {
    setImmediate(() => (waiting > seen && turns > 0 ? gather(waiting, turns - 1) : flush()))
  }
  // This function is async because an exception in an event loop callback would crash the process.
  const run = async (keys: Key[]): Promise<(Row | null)[]> => runShared(() => options.run(keys))
  const flush = (): void => {
    isScheduled = false
    spacer.markStart()
    const share = Math.max(minKeysForSecondStatement, Math.ceil(gathering.size / maxConcurrent))
    const batch = takeBatch(gathering, Math.min(maxBatch, share), { ...options, turns })
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
      (error: unknown) => {
        waiting -= failOverdueRequests(gathering, error)
        settle((waiter) => waiter.reject(error))
      },
    )
  }
  return (key) => {
    if (waiting >= maxWaiting)
      return Promise.reject(unavailable('too many requests are waiting for the database; try again'))
    waiting++
    const row = join(gathering, options.keyOf(key), key)
    schedule()
    return row
  }
}

/** Adds a waiter for the row of the key. */
function join<Key, Row>(gathering: Gathering<Key, Row>, name: string, key: Key): Promise<Row | null> {
  const waiter = Promise.withResolvers<Row | null>()
  const entry = gathering.get(name)
  if (entry === undefined) gathering.set(name, { key, since: performance.now(), waiters: [waiter] })
  else entry.waiters.push(waiter)
  return waiter.promise
}

/** Rejects requests that have waited long, because they would wait for another timeout; returns their number. */
function failOverdueRequests<Key, Row>(gathering: Gathering<Key, Row>, cause: unknown): number {
  if (!isUnreachable(cause)) return 0
  const overdue = [...gathering].filter(([, { since }]) => performance.now() - since >= maxWaitAfterFailureMs)
  const rejected = overdue.flatMap(([name, { waiters }]) => (gathering.delete(name), waiters))
  const error = unavailable('the database is not responding; try again', cause)
  for (const waiter of rejected) waiter.reject(error)
  return rejected.length
}

/** Returns the rows ordered by their `position`, which starts at 1; missing rows are null. */
export function orderByPosition<Row extends object>(
  count: number,
  rows: readonly (Row & { position: number })[],
): (Row | null)[] {
  const ordered = Array.from<Row | null>({ length: count }).fill(null)
  for (const { position, ...row } of rows) ordered[position - 1] = row as unknown as Row
  return ordered
}

/** Spaces the starts of statements: `after` calls back when `minGapMs` has passed since the last start. */
function createSpacer(minGapMs: number) {
  let endsAt = 0
  return {
    markStart: (): void => void (endsAt = performance.now() + minGapMs),
    after: (next: () => void): void => {
      const waitMs = endsAt - performance.now()
      if (waitMs > 0) setTimeout(next, waitMs)
      else next()
    },
  }
}

/** Removes and returns the oldest keys, alternating between owners. */
function takeBatch<Key, Row>(
  gathering: Gathering<Key, Row>,
  count: number,
  { weight, turns }: Pick<CoalescedOptions<Key, Row>, 'weight'> & { turns: Turns<Key> },
) {
  const batch = []
  let total = 0
  for (const [name, entry] of turns.inTurn(gathering)) {
    total += weight?.of(entry.key) ?? 0
    if (batch.length === count || (batch.length > 0 && weight !== undefined && total > weight.max)) break
    batch.push(entry)
    gathering.delete(name)
  }
  turns.note(batch)
  return batch
}

type Turns<Key> = ReturnType<typeof createTurns<Key>>

/** Remembers when each waiting owner was last served; the least recently served owner is next. */
function createTurns<Key>(ownerOf: ((key: Key) => string) | undefined) {
  let servedAt = new Map<string, number>()
  let now = 0
  type Entries<Entry> = Iterable<[string, Entry]>
  function* inTurn<Entry extends { key: Key }>(gathering: Entries<Entry>): Entries<Entry> {
    if (ownerOf === undefined) return yield* gathering
    const byOwner = Map.groupBy(gathering, ([, { key }]) => ownerOf(key))
    servedAt = new Map([...byOwner.keys()].map((owner) => [owner, servedAt.get(owner) ?? 0]))
    const order = (owner: string): number => servedAt.get(owner) ?? 0
    let queues = [...byOwner].toSorted(([a], [b]) => order(a) - order(b)).map(([, queue]) => queue)
    for (let round = 0; queues.length > 0; round++) {
      for (const queue of queues) yield queue[round] as [string, Entry]
      queues = queues.filter(({ length }) => length > round + 1)
    }
  }
  const note = (batch: readonly { key: Key }[]): void => {
    if (ownerOf === undefined) return
    now++
    for (const { key } of batch) servedAt.set(ownerOf(key), now)
  }
  return { inTurn, note }
}
