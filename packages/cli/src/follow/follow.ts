// Follows a log: prints its newest rows, and then each new row once. A lost connection is retried until it works again,
// and the rows of the outage are printed then.
//
// Every second, a poll reads the newest rows. Every ten seconds, a sweep also reads the window again, which is the recent
// part of the log in which rows may still appear or change. The window starts at the last complete sweep, so it covers
// an outage of any length.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerClock } from './server-clock.ts'
import { readSlices } from './read.ts'
import { retryUntilConnected } from '../retry.ts'
import type { LogPage, LogSource } from './source.ts'
import { type LogWindow, createLogWindow } from './window.ts'

export type FollowOptions<Row> = {
  /** The number of existing rows to print first. */
  limit: number
  signal: AbortSignal
  print: (rows: readonly Row[]) => Promise<void> | void
  /** Prints a message for the user. */
  remark: (text: string) => void
  pollMs?: number
  sweepMs?: number
  /** The delay before the first retry. */
  retryMs?: number
  maxIds?: number
}
type Follower<Row> = FollowOptions<Row> & {
  source: LogSource<Row>
  window: LogWindow<Row>
  clock: Pick<ServerClock, 'now'>
  /** Whether rows with old events must be read. */
  needsOldRows: boolean
  hasWarned: boolean
}

/** A poll reads at most this many pages. A sweep reads longer changes, because it prints them in order. */
const maxPollPages = 5
/** The first read examines at most this many pages. */
const maxFirstPages = 100
const [defaultPollMs, defaultSweepMs, maxSweepMs, defaultRetryMs] = [1_000, 10_000, 60_000, 500]

/** Follows the log until the signal is aborted. Throws if the Manager rejects a request. */
export async function followLog<Row>(
  source: LogSource<Row>,
  clock: Pick<ServerClock, 'now'>,
  options: FollowOptions<Row>,
): Promise<never> {
  const { signal, pollMs = defaultPollMs, sweepMs = defaultSweepMs } = options
  const repeating = repeatReads(source, options)
  const window = createLogWindow(source, options.maxIds)
  const follower: Follower<Row> = {
    ...options,
    source: repeating,
    window,
    clock,
    needsOldRows: false,
    hasWarned: false,
  }
  await readFirst(follower)
  let nextSweepMs = performance.now() + sweepMs
  for (;;) {
    await sleep(pollMs, undefined, { signal })
    const startMs = performance.now()
    if (startMs >= nextSweepMs || !(await poll(follower))) {
      await sweep(follower)
      const endMs = performance.now()
      // A slow sweep is repeated less often.
      nextSweepMs = endMs + Math.min(Math.max(sweepMs, 10 * (endMs - startMs)), Math.max(sweepMs, maxSweepMs))
    }
    await readOldRows(follower)
    await print(follower, window.takeExpired(performance.now()))
  }
}

/**
 * Returns a source that repeats failed reads. Each page is repeated separately, because a long read over a bad connection
 * would otherwise never end. Cursors stay valid when the Manager restarts.
 */
function repeatReads<Row>(
  { readPage, readOldPage, ...source }: LogSource<Row>,
  { signal, remark, retryMs: delayMs = defaultRetryMs }: FollowOptions<Row>,
): LogSource<Row> {
  const repeat = <Result>(read: () => Promise<Result>): Promise<Result> =>
    retryUntilConnected(read, { signal, remark, delayMs })
  return {
    ...source,
    readPage: (request) => repeat(() => readPage(request)),
    ...(readOldPage && { readOldPage: (request) => repeat(() => readOldPage(request)) }),
  }
}

/** Prints the newest rows, and marks all other existing rows of the window as printed. */
async function readFirst<Row>(follower: Follower<Row>): Promise<void> {
  const { source, window, clock, limit, signal } = follower
  const rows: Row[] = []
  let after: string | null = null
  for (let pages = 0; pages < maxFirstPages; pages++) {
    const page: LogPage<Row> = await source.readPage({ fromMs: null, toMs: null, after, signal })
    rows.push(...page.rows)
    after = page.next
    const last = rows.at(-1)
    const isWindowRead =
      last !== undefined && source.getTime(last) < clock.now() - source.windowMs - source.lookbackMs
    if (after === null || (isWindowRead && rows.filter(source.matches).length >= limit)) break
  }
  const oldest = rows.at(-1)
  const floorMs = clock.now() - source.windowMs
  const shown = new Set(rows.filter(source.matches).slice(0, limit))
  const toPrint = rows.filter((row) => shown.has(row) && !isPending(source, row, floorMs)).toReversed()
  window.raiseFloor(
    after === null || oldest === undefined ? floorMs : Math.max(floorMs, source.getTime(oldest)),
  )
  window.add(rows.toReversed(), performance.now())
  await follower.print(toPrint)
}

/** Whether a row will still be read again and printed when it ends. */
const isPending = <Row>({ isOpen, getRecordedTime }: LogSource<Row>, row: Row, floorMs: number): boolean =>
  isOpen(row) && getRecordedTime(row) >= floorMs

/** Reads the newest pages until a page contains nothing new. Returns false if it did not reach such a page. */
async function poll<Row>(follower: Follower<Row>): Promise<boolean> {
  const { source, window, signal } = follower
  const rows: Row[] = []
  let after: string | null = null
  for (let pages = 0; pages < maxPollPages; pages++) {
    const fromMs = window.floorMs() - source.lookbackMs
    const page: LogPage<Row> = await source.readPage({ fromMs, toMs: null, after, signal })
    rows.push(...page.rows)
    after = page.next
    if (after === null || page.rows.every(window.isSettled)) {
      await addAndPrint(follower, rows.toReversed())
      return true
    }
  }
  // Open rows stay open for a while. They are not a reason to sweep.
  const lastPage = rows.slice(-100)
  if (lastPage.some(window.isNew)) return false
  await addAndPrint(follower, rows.toReversed())
  return true
}

/** Reads the complete window. */
async function sweep<Row>(follower: Follower<Row>): Promise<void> {
  const { source, window, clock, signal } = follower
  const startedMs = clock.now()
  for await (const rows of readSlices(source, window.floorMs() - source.lookbackMs, signal))
    await addAndPrint(follower, rows)
  const floorMs = startedMs - source.windowMs
  if (window.floorMs() > floorMs && !follower.hasWarned) {
    follower.hasWarned = true
    follower.remark(
      'The log grows too fast to remember all recent rows. Rows that are recorded late may be missing. Use a filter.',
    )
  }
  window.raiseFloor(floorMs)
}

/** Reads rows with old events that were recorded together with a row that was just printed. */
async function readOldRows<Row>(follower: Follower<Row>): Promise<void> {
  const { source, window, signal } = follower
  if (!follower.needsOldRows || source.readOldPage === undefined) return
  const rows: Row[] = []
  for (let after: string | null = null; ;) {
    const page: LogPage<Row> = await source.readOldPage({ after, signal })
    rows.push(...page.rows)
    after = page.next
    if (after === null || page.rows.every(window.isSettled)) break
  }
  await addAndPrint(follower, rows.toReversed())
  follower.needsOldRows = false
}

async function addAndPrint<Row>(follower: Follower<Row>, rows: readonly Row[]): Promise<void> {
  const { source, window } = follower
  if (
    source.needsOldRows !== undefined &&
    rows.some((row) => window.isNew(row) && source.needsOldRows?.(row) === true)
  )
    follower.needsOldRows = true
  await print(follower, window.add(rows, performance.now()))
}

const print = async <Row>({ source, print }: Follower<Row>, rows: readonly Row[]): Promise<void> => {
  const matching = rows.filter(source.matches)
  if (matching.length > 0) await print(matching)
}
