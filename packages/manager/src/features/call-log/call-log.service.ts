// The writing side of the log of calls. A call is logged before anything is forwarded, so that every call that reached
// a partner has its row, and a log that cannot be written stops calls instead of missing them; this write does not wait
// for the disk. Its end is written, and on disk, before the caller has the last byte of the response. Calls that begin
// or end together share a statement: the cost of one is some microseconds of a shared commit.
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

/** By month; the log of calls. */
export const partitionedTable = 'esb_audit_logs'

const maxRememberedCallers = 100_000
// A restored backup may lack a caller that this process has cached.
const rememberCallersMs = 600_000
// Contents are up to some hundred kilobytes each.
const contentsLimits = { maxBatch: 16, maxWaiting: 400 }

/** Logs calls; throws 503 when that is not possible. */
export function createCallLog(deps: CallLogDeps) {
  const { db, log, metrics } = deps
  const { run } = deps.database
  /** Until when calls of a pair are noted as served. */
  const callers = createLru<string>({ max: maxRememberedCallers, ttl: rememberCallersMs })
  const insertOnce = createSingleFlight<void>()
  const insertFirst = async (call: store.Call): Promise<void> => {
    const until = servedUntil(call)
    await withPartition(db, () => db.transaction((tx) => store.insertFirstCall(tx, call, until)))
    const pair = call.endpointId + call.machineUserId
    if (!call.isRefused || !callers.has(pair)) callers.set(pair, until)
  }
  const isNoted = (pair: string, { isRefused, createdAt }: store.Call): boolean => {
    const until = callers.get(pair)
    return until !== undefined && (isRefused || (until !== neverServed && createdAt < until))
  }

  const begin = createCoalescedWriter<store.Call>(
    ({ id }) => id,
    (calls) => withPartition(db, () => store.insertCalls(run, calls)),
    { log, metrics },
  )
  const endAll = async (calls: store.EndedCall[]): Promise<void> => {
    if ((await store.updateCalls(run, calls)) === calls.length) return
    // The database crashed and lost beginnings that were not on its disk yet, and perhaps who called.
    for (const ended of calls)
      if ((await store.updateCalls(run, [ended])) === 0) {
        await insertFirst(ended.call).catch((error: unknown) => {
          if (!isAboutAnOwner(error)) throw error
          return store.insertCalls(run, [ended.call])
        })
        await store.updateCalls(run, [ended])
      }
  }
  const end = createCoalescedWriter(idOfEnded, endAll, { log, metrics })
  const endWithContents = createCoalescedWriter(idOfEnded, endAll, { log, metrics, ...contentsLimits })

  return {
    begin: async (call: store.Call): Promise<void> => {
      const pair = call.endpointId + call.machineUserId
      let isFirst = false
      try {
        if (!isNoted(pair, call))
          await insertOnce(`${pair}${call.isRefused}`, async () => {
            isFirst = true
            await insertFirst(call)
          })
        if (!isFirst) await begin(call)
      } catch (error) {
        // The endpoint or the machine user was deleted a moment ago.
        if (isAboutAnOwner(error))
          throw new AppError('not_found', 'Endpoint not found or not enabled', { cause: error })
        if (isFirst) log.error({ err: error }, 'a first call cannot be logged')
        throw unavailable('calls cannot be logged right now, so none is forwarded; try again', error)
      }
    },
    end: async (call: store.EndedCall): Promise<void> => {
      try {
        await (call.contents === null ? end(call) : endWithContents(call))
      } catch (error) {
        throw unavailable('the end of the call could not be logged, so its answer is withheld', error)
      }
    },
  }
}

const neverServed = '-infinity'
/** Longer than the pair is cached: later calls are noted again. */
const servedUntil = ({ isRefused, createdAt }: store.Call): string =>
  isRefused ? neverServed : new Date(Date.parse(createdAt) + 2 * rememberCallersMs).toISOString()

const idOfEnded = ({ call }: store.EndedCall): string => call.id

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
    // Commits wait for each other at the disk anyway; fewer of them carry more.
    atOnce: 1,
    run: async (rows) => {
      const started = performance.now()
      try {
        return await writeEach(writeAll, rows)
      } catch (error) {
        log.error({ err: error, calls: rows.length }, 'calls cannot be logged')
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

/** Makes the month's partition when the first of its rows comes before it was made ahead. */
async function withPartition(db: Db, insert: () => Promise<void>): Promise<void> {
  try {
    await insert()
  } catch (error) {
    if (!isWithoutPartition(error)) throw error
    await preparePartitions(db.idempotent, partitionedTable)
    await insert()
  }
}

/** One row that cannot be written must not make the others fail: then each is tried alone. */
async function writeEach<Row>(
  writeAll: (rows: Row[]) => Promise<void>,
  rows: Row[],
): Promise<(Error | null)[]> {
  try {
    await writeAll(rows)
    return []
  } catch (error) {
    if (rows.length === 1 || !isAboutARow(error)) throw error
    return Promise.all(rows.map((row) => writeAll([row]).then(() => null, asError)))
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
const codeOf = (error: unknown): string => (error as { code?: string }).code ?? ''
/** Data (22), constraints (23) and triggers (P0) concern single rows. */
const isAboutARow = (error: unknown): boolean => /^(?:22|23|P0)/.test(codeOf(error))
/** The endpoint or the machine user is gone. */
const isAboutAnOwner = (error: unknown): boolean => codeOf(error) === '23503'
