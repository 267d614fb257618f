// This service writes the call log. A call is logged before it is forwarded, so every call that reached a partner has a
// row. If the log cannot be written, calls fail instead of going unlogged. This first write does not wait for the disk.
// The end of a call is on disk before the caller receives the last byte of the response. Calls that start or end at the
// same time share a statement, so each costs only a few microseconds of a shared commit.
import { createLru } from '../../platform/cache/lru.ts'
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Db } from '../../platform/postgres/handles.ts'
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
// A restored backup may lack a caller that this process has cached.
const callerCacheMs = 600_000
// The contents of a call can be several hundred kilobytes.
const contentsLimits = { maxBatch: 16, maxWaiting: 400 }

/** Logs calls; throws 503 when that is not possible. */
export function createCallLog(deps: CallLogDeps) {
  const { db, log, metrics } = deps
  const { run } = deps.database
  /** Maps a pair of endpoint and machine user to the time until which its calls are recorded as served. */
  const callers = createLru<string>({ max: maxCachedCallers, ttl: callerCacheMs })
  const insertOnce = createSingleFlight<void>()
  const insertFirst = async (call: store.Call): Promise<void> => {
    const until = servedUntil(call)
    await withPartition(db, () => db.transaction((tx) => store.insertFirstCall(tx, call, until)))
    const pair = call.endpointId + call.machineUserId
    if (!call.isRefused || !callers.has(pair)) callers.set(pair, until)
  }
  const isRecorded = (pair: string, { isRefused, createdAt }: store.Call): boolean => {
    const until = callers.get(pair)
    return until !== undefined && (isRefused || (until !== neverServed && createdAt < until))
  }

  const writeStart = createCoalescedWriter<store.Call>(
    ({ id }) => id,
    (calls) => withPartition(db, () => store.insertCalls(run, calls)),
    { log, metrics },
  )
  const endAll = async (calls: store.EndedCall[]): Promise<void> => {
    if ((await store.updateCalls(run, calls)) === calls.length) return
    // The database crashed and lost first writes that were not on disk yet, possibly including the pair.
    for (const ended of calls)
      if ((await store.updateCalls(run, [ended])) === 0) {
        await insertFirst(ended.call).catch((error: unknown) => {
          if (!isForeignKeyViolation(error)) throw error
          return store.insertCalls(run, [ended.call])
        })
        await store.updateCalls(run, [ended])
      }
  }
  const writeEnd = createCoalescedWriter(callIdOf, endAll, { log, metrics })
  const writeEndWithContents = createCoalescedWriter(callIdOf, endAll, { log, metrics, ...contentsLimits })

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
        // The endpoint or the machine user has just been deleted.
        if (isForeignKeyViolation(error))
          throw new AppError('not_found', 'Endpoint not found or not enabled', { cause: error })
        if (isFirst) log.error({ err: error }, 'cannot log a first call')
        throw unavailable('the call cannot be logged, so it is not forwarded; try again', error)
      }
    },
    end: async (call: store.EndedCall): Promise<void> => {
      try {
        await (call.contents === null ? writeEnd(call) : writeEndWithContents(call))
      } catch (error) {
        throw unavailable('the end of the call could not be logged, so its response is withheld', error)
      }
    },
  }
}

const neverServed = '-infinity'
/** Returns a time after the pair has left the cache, so that later calls extend the recorded time. */
const servedUntil = ({ isRefused, createdAt }: store.Call): string =>
  isRefused ? neverServed : new Date(Date.parse(createdAt) + 2 * callerCacheMs).toISOString()

const callIdOf = ({ call }: store.EndedCall): string => call.id

type CoalescedWriterOptions = { log: Logger; metrics: CallLogMetrics; maxBatch?: number; maxWaiting?: number }

/** Returns a function that writes one row, coalesced with others in flight. */
function createCoalescedWriter<Row>(
  idOf: (row: Row) => string,
  writeAll: (rows: Row[]) => Promise<void>,
  { log, metrics, ...limits }: CoalescedWriterOptions,
) {
  const run = createCoalesced<Row, Error>({
    keyOf: idOf,
    ...limits,
    // The disk serializes commits anyway, so fewer and larger commits are more efficient.
    maxConcurrent: 1,
    run: async (rows) => {
      const started = performance.now()
      try {
        return await writeEach(writeAll, rows)
      } catch (error) {
        log.error({ err: error, calls: rows.length }, 'cannot log calls')
        throw error
      } finally {
        metrics.batchRows.observe(rows.length)
        metrics.batchSeconds.observe((performance.now() - started) / 1_000)
      }
    },
  })
  return async (row: Row): Promise<void> => {
    const failure = await run(row)
    if (failure !== null) throw failure
  }
}

/** Creates the partition of the month if it does not exist yet, and retries the insert. */
async function withPartition(db: Db, insert: () => Promise<void>): Promise<void> {
  try {
    await insert()
  } catch (error) {
    if (!isWithoutPartition(error)) throw error
    await preparePartitions(db.idempotent, partitionedTable)
    await insert()
  }
}

/** Retries each row separately if one row is invalid, so that the other rows are written. */
async function writeEach<Row>(
  writeAll: (rows: Row[]) => Promise<void>,
  rows: Row[],
): Promise<(Error | null)[]> {
  try {
    await writeAll(rows)
    return []
  } catch (error) {
    if (rows.length === 1 || !isRowError(error)) throw error
    return Promise.all(rows.map((row) => writeAll([row]).then(() => null, asError)))
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
const codeOf = (error: unknown): string => (error as { code?: string }).code ?? ''
/** The SQLSTATE classes 22 (data), 23 (constraints) and P0 (triggers) concern single rows. */
const isRowError = (error: unknown): boolean => /^(?:22|23|P0)/.test(codeOf(error))
/** A foreign key violation means that the endpoint or the machine user was deleted. */
const isForeignKeyViolation = (error: unknown): boolean => codeOf(error) === '23503'
