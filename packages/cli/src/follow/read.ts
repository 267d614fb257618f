// Reads a range of a log completely, oldest row first, with bounded memory.
import type { LogSource, Range } from './source.ts'

const defaultMaxRows = 10_000

/**
 * Reads the rows of a range, newest first. Stops after `maxRows` rows; `isComplete` is then false.
 */
async function readRange<Row>(
  { readPage }: LogSource<Row>,
  range: Range,
  maxRows: number,
  signal: AbortSignal,
): Promise<{ rows: Row[]; isComplete: boolean }> {
  const rows: Row[] = []
  for (let after: string | null = null; ;) {
    const page = await readPage({ ...range, after, signal })
    rows.push(...page.rows)
    if (page.next === null) return { rows, isComplete: true }
    if (rows.length >= maxRows) return { rows, isComplete: false }
    after = page.next
  }
}

/**
 * Yields the rows from a time to the end of the log in slices, oldest slice and oldest row first. The API returns the
 * newest rows first, so a range with too many rows is divided: its newest part is read again after the older parts.
 */
export async function* readSlices<Row>(
  source: LogSource<Row>,
  fromMs: number,
  signal: AbortSignal,
  maxRows = defaultMaxRows,
): AsyncGenerator<Row[]> {
  /** The ends of slices that are read later, the nearest last. */
  const ends: number[] = []
  for (let startMs = fromMs; ;) {
    const endMs = ends.at(-1) ?? null
    const range = { fromMs: startMs, toMs: endMs }
    const { rows, isComplete } = await readRange(source, range, maxRows, signal)
    const oldestMs = Math.floor(getOldestTime(source, rows))
    if (!isComplete && oldestMs > startMs && oldestMs < (endMs ?? Infinity)) {
      ends.push(oldestMs)
      continue
    }
    // A slice cannot be shorter than 1 ms, so the limit does not apply to the rows of one millisecond.
    const all = isComplete ? rows : (await readRange(source, range, Infinity, signal)).rows
    yield all.toReversed()
    if (endMs === null) return
    startMs = endMs
    ends.pop()
  }
}

const getOldestTime = <Row>({ getTime }: LogSource<Row>, rows: readonly Row[]): number => {
  const last = rows.at(-1)
  return last === undefined ? Infinity : getTime(last)
}
