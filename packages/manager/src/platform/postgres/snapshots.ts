// Long reads for reports and exports: one moment of the database, read row by row with a cursor, on connections of their own.
// Whoever reads slowly holds one of these connections and a batch of rows, never one that requests need.
import type { PoolClient } from 'pg'
import { unavailable } from '../errors.ts'
import { acquire } from './acquire.ts'
import { connectionOf } from './connections.ts'
import type { StatementOptions } from './statements.ts'

/** One moment of the database. Columns keep the names the statement gives them. */
export type Snapshot = {
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** The rows in batches: the next one is read when it is asked for. One stream at a time. */
  stream<Row extends object>(
    text: string,
    values?: readonly unknown[],
    batchSize?: number,
  ): AsyncGenerator<Row[], void, void>
  /** Gives the connection back; a stream that is not at its end ends. */
  close(): Promise<void>
}
/** Throws 503 when as many are open as may be. */
export type OpenSnapshot = () => Promise<Snapshot>

// Longer than a connection of ours stays open whose response nobody reads.
const idleMs = 60_000
/** A snapshot keeps the database from removing what has been deleted since, so it does not live forever. */
const longestMs = 1_800_000
const defaultBatchSize = 500
const openWithinMs = 1_000

/** A snapshot that does not answer for `readTimeoutMs` is ended; pg itself sets no timeout. At most `max` are open. */
export type SnapshotOptions = StatementOptions & { max: number }

/** Snapshots on the connections of this pool. */
export function createSnapshots({ pool, retry, readTimeoutMs, max }: SnapshotOptions): OpenSnapshot {
  let open = 0
  const attempt = async (): Promise<Snapshot> =>
    begin(await acquire(pool, Infinity), readTimeoutMs, () => open--)
  return async () => {
    if (open >= max)
      throw unavailable(`${open} reports or exports are running already; try again when one has ended`)
    open++
    try {
      return await retry(attempt, { kind: 'read', withinMs: openWithinMs })
    } catch (error) {
      open--
      throw error
    }
  }
}

async function begin(client: PoolClient, readTimeoutMs: number, onClose: () => void): Promise<Snapshot> {
  const watched = watchSilence(client, readTimeoutMs)
  try {
    await watched.run('begin isolation level repeatable read read only')
    await watched.run(`set local idle_in_transaction_session_timeout = ${idleMs}`)
  } catch (error) {
    watched.close()
    client.release(true)
    throw error
  }
  let ending: Promise<void> | null = null
  // Statements in flight, and streams that are not at their end.
  let open = 0
  let hasFailed = false
  const end = async (): Promise<void> => {
    clearTimeout(deadline)
    client.off('end', onEnd)
    // What is in flight is not waited for: a statement may take a minute, and nobody reads its rows any more. After a
    // failure, a timeout perhaps, it is unknown what the server still does.
    const isIdle = open === 0 && !hasFailed && (await watched.run('rollback').then(yes, no))
    watched.close()
    client.release(!isIdle)
    onClose()
  }
  const close = (): Promise<void> => (ending ??= end())
  const deadline = setTimeout(() => void close(), longestMs)
  // The server may end it while nobody asks for rows: a failover, or a reader that is too slow.
  const onEnd = (): void => void close()
  client.once('end', onEnd)
  const query: Snapshot['query'] = async <Row extends object>(
    text: string,
    values: readonly unknown[] = [],
  ) => {
    if (ending !== null) throw unavailable('the report took too long; narrow it down')
    open++
    try {
      return await watched.run<Row>(text, values)
    } catch (error) {
      hasFailed = true
      throw error
    } finally {
      open--
    }
  }
  return {
    query,
    close,
    stream: streamOf(query, (change) => {
      open += change
    }),
  }
}

/** Runs statements, and ends the connection when one is not answered for so long. One timer serves all of them. */
function watchSilence(client: PoolClient, readTimeoutMs: number) {
  let waiting = 0
  const timer = setTimeout(() => {
    if (waiting > 0) connectionOf(client).destroy()
  }, readTimeoutMs)
  return {
    run: async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
      waiting++
      timer.refresh()
      try {
        return await rowsOf<Row>(client, text, values)
      } finally {
        waiting--
      }
    },
    close: (): void => clearTimeout(timer),
  }
}

/**
 * The rows of a statement, by pg's callback and without its timeout. With the promises and timers that pg makes, the rows of
 * a batch are reached from the batch before, so that the collector of young objects keeps them all: 211 MB of 240 that were
 * read became old ones.
 */
const rowsOf = <Row extends object>(client: PoolClient, text: string, values: readonly unknown[]) =>
  new Promise<Row[]>((resolve, reject) => {
    client.query<Row & Record<string, unknown>>(text, [...values], (error: Error | null, result) => {
      if (error === null) resolve(result.rows)
      else reject(error)
    })
  })

/** Reads by a cursor; `note` hears when it is opened and closed. */
function streamOf(query: Snapshot['query'], note: (change: 1 | -1) => void): Snapshot['stream'] {
  return async function* <Row extends object>(
    text: string,
    values: readonly unknown[] = [],
    batchSize = defaultBatchSize,
  ) {
    note(1)
    await query(`declare report no scroll cursor for ${text}`, values)
    for (let isLast = false; !isLast;) {
      const rows = await query<Row>(`fetch ${batchSize} from report`)
      if (rows.length > 0) yield rows
      isLast = rows.length < batchSize
    }
    await query('close report')
    note(-1)
  }
}

const yes = (): boolean => true
const no = (): boolean => false
