// Remembers which recent rows of a log have been printed, so that no row is printed twice. The memory is bounded.
import type { LogSource } from './source.ts'

/** 100,000 ids need about 15 MB. */
const defaultMaxIds = 100_000

type OpenRow<Row> = { row: Row; sinceMs: number }
export type LogWindow<Row> = ReturnType<typeof createLogWindow<Row>>

export function createLogWindow<Row>(source: LogSource<Row>, maxIds = defaultMaxIds) {
  const { getId, getRecordedTime, isOpen, windowMs } = source
  /** The ids of printed rows with the times at which the rows were created. */
  const printed = new Map<string, number>()
  const open = new Map<string, OpenRow<Row>>()
  /** Rows from before this time have been printed, or existed before the first read. */
  let floorMs = -Infinity
  const isOld = (row: Row): boolean => getRecordedTime(row) < floorMs
  const remember = (row: Row): void => void printed.set(getId(row), getRecordedTime(row))

  /** Forgets the oldest rows if there are too many. Rows that appear late before the new floor are then lost. */
  const enforceLimit = (): void => {
    if (printed.size <= maxIds) return
    const times = [...printed.values()].toSorted((a, b) => a - b)
    // Forget a tenth more than necessary, so that the sort is rare.
    raiseFloor((times[times.length - Math.floor(maxIds * 0.9)] ?? floorMs) + 1)
  }
  const raiseFloor = (toMs: number): void => {
    if (toMs <= floorMs) return
    floorMs = toMs
    for (const [id, recordedMs] of printed) if (recordedMs < floorMs) printed.delete(id)
  }
  return {
    raiseFloor,
    floorMs: () => floorMs,
    /** Whether reading the row again brings nothing new. */
    isSettled: (row: Row): boolean => !open.has(getId(row)) && (isOld(row) || printed.has(getId(row))),
    /** Whether the row has not been read before. */
    isNew: (row: Row): boolean => !open.has(getId(row)) && !isOld(row) && !printed.has(getId(row)),
    /** Adds rows and returns those to print now, in the same order. `nowMs` is a monotonic time. */
    add: (rows: readonly Row[], nowMs: number): Row[] => {
      const ended = rows.filter((row) => {
        const id = getId(row)
        const pending = open.get(id)
        if (pending === undefined && (isOld(row) || printed.has(id))) return false
        if (isOpen(row)) {
          open.set(id, { row, sinceMs: pending?.sinceMs ?? nowMs })
          return false
        }
        open.delete(id)
        remember(row)
        return true
      })
      enforceLimit()
      return ended
    },
    /** Returns open rows that are no longer read again, such as calls whose end was lost. They are printed unchanged. */
    takeExpired: (nowMs: number): Row[] => {
      const expired = [...open.values()].filter(({ sinceMs }) => nowMs - sinceMs > windowMs)
      for (const { row } of expired) {
        open.delete(getId(row))
        remember(row)
      }
      return expired.map(({ row }) => row)
    },
    /** The number of remembered rows. */
    size: () => printed.size + open.size,
  }
}
