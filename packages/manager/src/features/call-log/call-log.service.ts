// Writes the call log. A call is logged before it is forwarded, so every call that reached a partner has a row. If the
// log cannot be written, calls fail, so that no call is forwarded without a log row. The first write does not wait for
// the disk. The second write is on disk before the caller receives the last byte of the response. Calls that start or
// end at the same time share a statement, so each call costs only a few microseconds of a shared commit.
import { createLru } from '../../platform/cache/lru.ts'
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { isWithoutPartition, preparePartitions } from '../../platform/postgres/partitions.ts'
import { AppError, unavailable } from '../../platform/errors.ts'
import type { Logger } from '../../platform/log/log.ts'
import { createSingleFlight } from '../../platform/cache/single-flight.ts'
import type { CallLogMetrics } from './call-log.metrics.ts'
import * as store from './call-log.store.ts'

export type CallLogDeps = {
  db: Db
  database: Pick<Database, 'run'>
  log: Logger
  metrics: CallLogMetrics
}
export type CallLog = ReturnType<typeof createCallLog>

/** The table of the call log, which is partitioned by month. */
export const partitionedTable = 'esb_audit_logs'

const maxCachedCallers = 100_000
// After a restore, callers that this process has cached may be missing from the database.
const callerCacheMs = 600_000
// The headers and bodies of a call can total several hundred kilobytes.
const contentsLimits = { maxBatch: 16, maxWaiting: 400 }

/** Creates the call log. Its functions throw 503 if a call cannot be logged. */
export function createCallLog({ db, log, metrics, database: { run } }: CallLogDeps) {
  /**
   * Maps each pair of endpoint and machine user to a time. Until that time, calls of the pair are recorded as
   * served.
   */
  const callers = createLru<string>({ max: maxCachedCallers, ttl: callerCacheMs })
  const insertOnce = createSingleFlight<void>()
  const insertFirst = async (call: store.Call): Promise<void> => {
    const until = computeServedUntil(call)
    await insertWithPartition(db, () => db.transaction((tx) => store.insertFirstCall(tx, call, until)))
    const pair = call.endpointId + call.machineUserId
    if (!call.isRefused || !callers.has(pair)) callers.set(pair, until)
  }
  const isRecorded = (pair: string, { isRefused, createdAt }: store.Call): boolean => {
    const until = callers.get(pair)
    return until !== undefined && (isRefused || (until !== neverServed && createdAt < until))
  }

  const writeStart = createCoalescedWriter<store.Call>(
    (call) => call,
    (calls) => insertWithPartition(db, () => store.insertCalls(run, calls)),
    { log, metrics },
  )
  const logEnds = async (calls: store.EndedCall[]): Promise<void> => {
    if ((await store.updateCalls(run, calls)) === calls.length) return
    // A row is missing if the database crashed before its first write was on disk. The row of the pair may also be
    // missing.
    for (const endedCall of calls)
      if ((await store.updateCalls(run, [endedCall])) === 0) {
        await insertFirst(endedCall.call).catch((error: unknown) => {
          if (!isForeignKeyViolation(error)) throw error
          return store.insertCalls(run, [endedCall.call])
        })
        await store.updateCalls(run, [endedCall])
      }
  }
  const writeEnd = createCoalescedWriter(getCall, logEnds, { log, metrics })
  const writeEndWithContents = createCoalescedWriter(getCall, logEnds, { log, metrics, ...contentsLimits })

  return {
    start: async (call: store.Call): Promise<void> => {
      const pair = call.endpointId + call.machineUserId
      let isFirst = false
      try {
        if (!isRecorded(pair, call))
          await insertOnce(`${pair}${call.isRefused}`, async () => {
            isFirst = true
            await insertFirst(call)
          })
        if (!isFirst) await writeStart(call)
      } catch (error) {
        // The endpoint or the machine user was deleted a moment ago.
        if (isForeignKeyViolation(error))
          throw new AppError('not_found', 'Endpoint not found or not enabled', { cause: error })
        if (isFirst) log.error({ err: error }, 'cannot log the first call of a machine user to an endpoint')
        throw unavailable('the call cannot be logged, so it is not forwarded; try again', error)
      }
    },
    startInTransaction: createTransactionalStart(db),
    end: async (call: store.EndedCall): Promise<void> => {
      try {
        await (call.contents === null ? writeEnd(call) : writeEndWithContents(call))
      } catch (error) {
        throw unavailable('the end of the call could not be logged, so its response is withheld', error)
      }
    },
  }
}

/** Runs in the transaction that logs the start of a call, and must call `insertCall`. */
export type StartWork = (tx: Tx, insertCall: () => Promise<void>) => Promise<void>

/**
 * Returns a function that logs the start of a call in one transaction with `work`. It throws the errors of `work` and of
 * the database.
 */
const createTransactionalStart =
  (db: Db) =>
  (call: store.Call, work: StartWork): Promise<void> =>
    insertWithPartition(db, () =>
      db.transaction((tx) => work(tx, () => store.insertFirstCall(tx, call, computeServedUntil(call)))),
    )

const neverServed = '-infinity'
/** Returns a time after the expiry of the pair's cache entry, so that later calls extend the recorded time. */
const computeServedUntil = ({ isRefused, createdAt }: store.Call): string =>
  isRefused ? neverServed : new Date(Date.parse(createdAt) + 2 * callerCacheMs).toISOString()

const getCall = ({ call }: store.EndedCall): store.Call => call

type CoalescedWriterOptions = { log: Logger; metrics: CallLogMetrics; maxBatch?: number; maxWaiting?: number }

/** Returns a function that writes one row, coalesced with other pending rows. The rows of projects take turns. */
function createCoalescedWriter<Row>(
  getCall: (row: Row) => store.Call,
  writeAll: (rows: Row[]) => Promise<void>,
  { log, metrics, ...limits }: CoalescedWriterOptions,
) {
  const run = createCoalescer<Row, Error>({
    getKey: (row) => getCall(row).id,
    getOwner: (row) => getCall(row).projectId,
    ...limits,
    // The disk serializes commits anyway, so fewer and larger commits are more efficient.
    maxConcurrent: 1,
    run: async (rows) => {
      const startMs = performance.now()
      try {
        return await writeEach(writeAll, rows)
      } catch (error) {
        log.error({ err: error, calls: rows.length }, 'cannot log calls')
        throw error
      } finally {
        metrics.batchRows.observe(rows.length)
        metrics.batchSeconds.observe((performance.now() - startMs) / 1_000)
      }
    },
  })
  return async (row: Row): Promise<void> => {
    const failure = await run(row)
    if (failure !== null) throw failure
  }
}

/** Creates the partition of the month if it does not exist yet, and retries the insert. */
async function insertWithPartition(db: Db, insert: () => Promise<void>): Promise<void> {
  try {
    await insert()
  } catch (error) {
    if (!isWithoutPartition(error)) throw error
    await preparePartitions(db.idempotent, partitionedTable)
    await insert()
  }
}

/**
 * Writes all rows in one statement. If one row is invalid, retries each row separately so that the other rows
 * are written.
 */
async function writeEach<Row>(
  writeAll: (rows: Row[]) => Promise<void>,
  rows: Row[],
): Promise<(Error | null)[]> {
  try {
    await writeAll(rows)
    return []
  } catch (error) {
    if (rows.length === 1 || !isRowError(error)) throw error
    return Promise.all(rows.map((row) => writeAll([row]).then(() => null, toError)))
  }
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
const getErrorCode = (error: unknown): string => (error as { code?: string }).code ?? ''
/** Errors of the SQLSTATE classes 22 (data), 23 (constraints) and P0 (triggers) concern individual rows. */
const isRowError = (error: unknown): boolean => /^(?:22|23|P0)/.test(getErrorCode(error))
/** A foreign key violation means that the endpoint or the machine user was deleted. */
const isForeignKeyViolation = (error: unknown): boolean => getErrorCode(error) === '23503'
