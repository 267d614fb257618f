// Reads and writes that are requested together share a statement. While one is in flight the next keys gather, so the
// number of statements follows the round trips, not the requests. A statement always begins after the requests that
// need it, which is why a revocation applies to every request that starts after it.
import { unavailable } from '../errors.ts'
import { isUnreachable } from './db-errors.ts'
import { runShared } from './owner.ts'

type Waiter<Row> = { resolve: (row: Row | null) => void; reject: (error: unknown) => void }
type Entry<Key, Row> = { key: Key; since: number; waiters: Waiter<Row>[] }
type Gathering<Key, Row> = Map<string, Entry<Key, Row>>

export type CoalescedOptions<Key, Row> = {
  /** Tells keys apart; equal ones are read once. */
  keyOf: (key: Key) => string
  /** The statement: what each key leads to, in the order of the keys, null where there is nothing. */
  run: (keys: Key[]) => Promise<(Row | null)[]>
  /** Whose work a key is, where it may be much: then owners take turns, and none waits behind all of another. */
  ownerOf?: (key: Key) => string
  /** The most keys of one statement; fewer where a row may be large. */
  maxBatch?: number
  /** How much work a key is, and the most of one statement; a key that is more than that goes alone. */
  weight?: { of: (key: Key) => number; max: number }
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
// Whoever has waited this long for a statement to begin does not wait for another one after one that got no answer.
const patienceMs = 500
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
  const [gap, turns] = [createGap(minGapMs), createTurns<Key>(options.ownerOf)]

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
  const run = async (keys: Key[]): Promise<(Row | null)[]> => runShared(() => options.run(keys))
  const flush = (): void => {
    isScheduled = false
    gap.begin()
    const share = Math.max(worthASecond, Math.ceil(gathering.size / atOnce))
    const batch = takeFrom(gathering, Math.min(maxBatch, share), { ...options, turns })
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
        waiting -= giveUpLate(gathering, error)
        settle((waiter) => waiter.reject(error))
      },
    )
  }
  return (key) => {
    if (waiting >= maxWaiting)
      return Promise.reject(unavailable('too many requests wait for the database; try again'))
    waiting++
    const answer = join(gathering, options.keyOf(key), key)
    schedule()
    return answer
  }
}

/** Adds one who waits for what the key leads to. */
function join<Key, Row>(gathering: Gathering<Key, Row>, name: string, key: Key): Promise<Row | null> {
  const waiter = Promise.withResolvers<Row | null>()
  const entry = gathering.get(name)
  if (entry === undefined) gathering.set(name, { key, since: performance.now(), waiters: [waiter] })
  else entry.waiters.push(waiter)
  return waiter.promise
}

/** After a statement without an answer, those who have waited for long would wait for a timeout of their own as well. */
function giveUpLate<Key, Row>(gathering: Gathering<Key, Row>, cause: unknown): number {
  if (!isUnreachable(cause)) return 0
  const late = [...gathering].filter(([, { since }]) => performance.now() - since >= patienceMs)
  const given = late.flatMap(([name, { waiters }]) => (gathering.delete(name), waiters))
  const error = unavailable('the database does not answer right now; try again', cause)
  for (const waiter of given) waiter.reject(error)
  return given.length
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

/** The keys that gathered first, of each owner in turn. */
function takeFrom<Key, Row>(
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

/** Remembers when the owners that still wait were served last; whoever was served longest ago is next. */
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
