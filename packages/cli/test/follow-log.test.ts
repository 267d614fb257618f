// Tests the algorithm of --follow with a simulated log, in which rows are committed late, change, and cannot always be
// read.
import { ConnectionError } from '@manager/client'
import { expect, test } from 'vitest'
import { followLog } from '../src/follow/follow.ts'
import { readSlices } from '../src/follow/read.ts'
import type { LogPage, LogSource, PageRequest } from '../src/follow/source.ts'
import { createLogWindow } from '../src/follow/window.ts'

type LogRow = {
  id: string
  timeMs: number
  committedMs: number
  /** The time at which the row changes for the last time. */
  endedMs: number
  isOpen?: boolean
}
const windowMs = 60_000
const startMs = Date.UTC(2026, 10, 1)

/** A generator of numbers from 0 to 1 that repeats for a seed. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

const compareRows = (a: LogRow, b: LogRow): number => b.timeMs - a.timeMs || (a.id < b.id ? 1 : -1)
const none = new AbortController().signal

/** A log with rows that become visible as the clock advances. */
function createLog(rows: readonly LogRow[], { pageSize = 5, beforeRead = (): void => undefined } = {}) {
  const ordered = [...rows].sort(compareRows)
  const state = { nowMs: startMs, reads: 0 }
  const source: LogSource<LogRow> = {
    readPage: async ({ fromMs, toMs, after }: PageRequest): Promise<LogPage<LogRow>> => {
      beforeRead()
      state.reads++
      const position = after === null ? null : (JSON.parse(after) as LogRow)
      const found = ordered.filter(
        (row) =>
          row.committedMs <= state.nowMs &&
          row.timeMs >= (fromMs ?? -Infinity) &&
          row.timeMs < (toMs ?? Infinity) &&
          (position === null || compareRows(row, position) > 0),
      )
      const page = found.slice(0, pageSize).map((row) => ({ ...row, isOpen: row.endedMs > state.nowMs }))
      const last = page.at(-1)
      return { rows: page, next: found.length > pageSize && last ? JSON.stringify(last) : null }
    },
    getId: ({ id }) => id,
    getTime: ({ timeMs }) => timeMs,
    getRecordedTime: ({ timeMs }) => timeMs,
    isOpen: ({ isOpen }) => isOpen === true,
    matches: () => true,
    windowMs,
    lookbackMs: 0,
  }
  return { source, state }
}

const createRow = (id: string, timeMs: number, lateMs = 0, openMs = 0): LogRow => ({
  id,
  timeMs,
  committedMs: timeMs + lateMs,
  endedMs: timeMs + lateMs + openMs,
})

/** Follows the log until the simulated clock reaches the end. Returns the ids in the order in which they are printed. */
async function followUntil(
  rows: readonly LogRow[],
  { seed = 1, seconds = 130, failureRate = 0, limit = 3, maxIds = 1_000, hasWindow = true } = {},
) {
  const random = createRandom(seed)
  const controller = new AbortController()
  const printed: string[] = []
  const remarks: string[] = []
  const { source, state } = createLog(rows, {
    beforeRead: () => {
      state.nowMs += Math.floor(random() * 700)
      if (state.nowMs > startMs + seconds * 1_000) controller.abort(new Error('end'))
      if (random() < failureRate) throw new ConnectionError('cut', { cause: null })
    },
  })
  const following = followLog(
    hasWindow ? source : { ...source, windowMs: 0 },
    { now: () => state.nowMs - 900 },
    {
      limit,
      signal: controller.signal,
      print: (found) => void printed.push(...found.map(({ id }) => id)),
      remark: (text) => void remarks.push(text),
      pollMs: 0,
      sweepMs: 3,
      retryMs: 0,
      maxIds,
    },
  )
  await expect(following).rejects.toThrow()
  return { printed, remarks, reads: state.reads }
}

test('the newest rows come first, oldest of them first, and then each new row once', async () => {
  const old = Array.from({ length: 10 }, (_, n) => createRow(`old-${n}`, startMs - 10_000 + n))
  const later = Array.from({ length: 40 }, (_, n) => createRow(`new-${n}`, startMs + 5_000 + n * 2_000))
  const { printed, remarks } = await followUntil([...old, ...later])
  expect(printed).toEqual(['old-7', 'old-8', 'old-9', ...later.map(({ id }) => id)])
  expect(remarks).toEqual([])
})

test('an empty log prints its first row', async () => {
  expect((await followUntil([createRow('first', startMs + 60_000)])).printed).toEqual(['first'])
})

test.each(Array.from({ length: 8 }, (_, index) => index + 1))(
  'rows that are committed late, change, and are read over a bad connection are printed once (seed %i)',
  async (seed) => {
    const random = createRandom(seed * 7_919)
    const rows = Array.from({ length: 300 }, (_, n) => {
      const late = random() < 0.3 ? random() * 50_000 : random() * 200
      const open = random() < 0.3 ? random() * 8_000 : 0
      return createRow(`row-${n}`, startMs + 2_000 + Math.floor(random() * 200_000), late, open)
    })
    const { printed } = await followUntil(rows, { seed, failureRate: 0.1, seconds: 400 })
    expect(printed.toSorted()).toEqual(rows.map(({ id }) => id).toSorted())
  },
)

test('without a window, late rows would be missing', async () => {
  const rows = [createRow('late', startMs + 50_000, 30_000), createRow('later', startMs + 60_000)]
  expect((await followUntil(rows)).printed).toEqual(['later', 'late'])
  expect((await followUntil(rows, { hasWindow: false })).printed).toEqual(['later'])
})

test('rows that existed before are not printed, even if the first read does not show them', async () => {
  const rows = Array.from({ length: 50 }, (_, n) => createRow(`old-${n}`, startMs - 1_000 - n * 100))
  expect((await followUntil(rows, { limit: 2 })).printed).toEqual(['old-1', 'old-0'])
})

test('a call in flight at the start is printed when it ends', async () => {
  const rows = [createRow('ended', startMs - 3_000), createRow('open', startMs - 2_000, 0, 30_000)]
  expect((await followUntil(rows)).printed).toEqual(['ended', 'open'])
})

test('a rejection ends the command', async () => {
  const { source } = createLog([], {
    beforeRead: () => {
      throw new Error('forbidden')
    },
  })
  const options = { limit: 1, signal: none, print: () => undefined, remark: () => undefined }
  await expect(followLog(source, { now: Date.now }, options)).rejects.toThrow('forbidden')
})

test('too many rows for the memory are reported once, and printed at most once', async () => {
  const rows = Array.from({ length: 500 }, (_, n) => createRow(`row-${n}`, startMs + 10_000 + n * 20))
  const { printed, remarks } = await followUntil(rows, { maxIds: 50, seconds: 120 })
  expect(new Set(printed).size).toBe(printed.length)
  expect(printed.toSorted()).toEqual(rows.map(({ id }) => id).toSorted())
  expect(remarks).toEqual([expect.stringContaining('The log grows too fast')])
})

test('a long range is read in slices, oldest first, each row once', async () => {
  const rows = Array.from({ length: 137 }, (_, n) => createRow(`row-${n}`, startMs - 5_000 + (n % 60) * 40))
  const { source } = createLog(rows, { pageSize: 4 })
  const slices: LogRow[][] = []
  for await (const slice of readSlices(source, startMs - 10_000, none, 20)) slices.push(slice)
  const times = slices.flat().map(({ timeMs }) => timeMs)
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(new Set(slices.flat().map(({ id }) => id)).size).toBe(137)
  expect(slices.flat()).toHaveLength(137)
  expect(Math.max(...slices.map(({ length }) => length))).toBeLessThan(40)
})

test('the rows of one millisecond are read together', async () => {
  const rows = Array.from({ length: 30 }, (_, n) => createRow(`row-${n}`, startMs - 1_000))
  const { source } = createLog(rows, { pageSize: 4 })
  const slices: LogRow[][] = []
  for await (const slice of readSlices(source, startMs - 5_000, none, 8)) slices.push(slice)
  expect(slices.flat()).toHaveLength(30)
})

test('the memory is bounded, and an open row is printed unchanged after the window', () => {
  const { source } = createLog([])
  const window = createLogWindow(source, 100)
  for (let n = 0; n < 1_000; n++) window.add([createRow(`row-${n}`, n)], 0)
  expect(window.size()).toBeLessThanOrEqual(100)
  expect(window.add([createRow('row-5', 5)], 0)).toEqual([])
  const open = { ...createRow('open', 2_000), isOpen: true }
  expect(window.add([open], 10)).toEqual([])
  expect(window.takeExpired(10 + windowMs)).toEqual([])
  expect(window.takeExpired(11 + windowMs)).toEqual([open])
  expect(window.add([{ ...open, isOpen: false }], 20)).toEqual([])
})
