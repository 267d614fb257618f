// Describes a log for --follow. The logs of the API are ordered by the time of an event, newest first. A row can be
// committed after rows of later events, so a reader must read the recent part of a log again.

/** A part of a log. `from` is inclusive and `to` exclusive; both are milliseconds since 1970. */
export type Range = { fromMs: number | null; toMs: number | null }
/** A page of a range, newest row first. `next` is the cursor of the next page, or null at the end of the range. */
export type LogPage<Row> = { rows: readonly Row[]; next: string | null }
export type PageRequest = Range & { after: string | null; signal: AbortSignal }

export type LogSource<Row> = {
  readPage: (request: PageRequest) => Promise<LogPage<Row>>
  getId: (row: Row) => string
  /** The time of the event, which orders the log, in milliseconds. */
  getTime: (row: Row) => number
  /** The time at which the row was created, in milliseconds. For most logs, this is the time of the event. */
  getRecordedTime: (row: Row) => number
  /** Whether the row will change. Such a row is printed when it has ended. */
  isOpen: (row: Row) => boolean
  /** Whether to print the row. Filters on values that change must be here and not in the request. */
  matches: (row: Row) => boolean
  /** How long after its recorded time a row may appear or change. */
  windowMs: number
  /** How long before its recorded time the event of a row may be. */
  lookbackMs: number
  /** Reads rows whose event is older than `lookbackMs`, newest first. Used after a row for which `needsOldRows` holds. */
  readOldPage?: (request: Pick<PageRequest, 'after' | 'signal'>) => Promise<LogPage<Row>>
  needsOldRows?: (row: Row) => boolean
}
