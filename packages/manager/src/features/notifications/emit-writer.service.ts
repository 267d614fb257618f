// Writes notifications. Concurrent emits share a statement and its commit. Emits with named recipients have
// their own queue, because an emit to all members of a tenant can take a long time.
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../platform/clock.ts'
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { isOutcomeUnknown, isRetryable } from '../../platform/postgres/outcomes.ts'
import { isWithoutPartition, preparePartitions } from '../../platform/postgres/partitions.ts'
import { unavailable } from '../../platform/errors.ts'
import { type TimedId, createTimedIds } from '../../platform/ids.ts'
import type { EmitInput } from './emit-input.pure.ts'
import * as store from './emit.store.ts'

export type EmitWriterDeps = {
  db: Db
  database: Pick<Database, 'run'>
  clock: Clock
}
/** An emit that has no id yet. */
export type PendingEmit = Omit<store.Emit, keyof TimedId>
export type WriteResult = store.EmitResult & TimedId

/** Tables that are partitioned by month. */
export const partitionedTables = ['notifications', 'notification_recipients'] as const

/**
 * Maximum number of rows per statement. Such a statement takes a few milliseconds, which limits how long the
 * next statement waits.
 */
const maxRows = 5_000
/**
 * Assumed member count of a tenant until an emit to all its members measures the actual count. The assumption
 * is high, so that only a few such emits share a statement.
 */
const assumedMembers = 1_000
const maxMemberCounts = 10_000

const reachesAllMembers = ({ recipients, roles }: Pick<EmitInput, 'recipients' | 'roles'>): boolean =>
  recipients === null || roles !== null

/** Returns a function that writes one emit, coalesced with other emits of its kind. */
export function createEmitWriter({
  db,
  database,
  clock,
}: EmitWriterDeps): (emit: PendingEmit) => Promise<WriteResult> {
  const nextId = createTimedIds(clock)
  const memberCounts = new LRUCache<string, number>({ max: maxMemberCounts })
  let nextNumber = 0
  type NumberedEmit = PendingEmit & { number: number }
  const createLane = (
    writeAll: (emits: readonly store.Emit[]) => Promise<(store.EmitResult | null)[]>,
    estimateRows: (emit: PendingEmit) => number,
  ) =>
    createCoalescer<NumberedEmit, WriteResult | Error>({
      getKey: ({ number }) => String(number),
      getOwner: ({ projectId }) => projectId,
      // Concurrent commits would contend for the disk. A single writer also batches more emits per commit.
      maxConcurrent: 1,
      weight: { compute: estimateRows, max: maxRows },
      run: (emits) => {
        const emitsWithId = emits.map(({ number: _number, ...emit }) => ({ ...emit, ...nextId() }))
        return writeEach((some) => insertWithPartitions(db, () => writeAll(some)), emitsWithId)
      },
    })
  const writeToNamed = createLane(
    (emits) => store.writeEmits(database.run, emits, 'named'),
    ({ recipients }) => recipients?.length ?? 0,
  )
  const writeToMembers = createLane(
    (emits) => store.writeEmits(database.run, emits, 'members'),
    ({ tenantId }) => memberCounts.get(tenantId) ?? assumedMembers,
  )
  return async (emit) => {
    const numberedEmit = { ...emit, number: nextNumber++ }
    const result = await (reachesAllMembers(emit) ? writeToMembers(numberedEmit) : writeToNamed(numberedEmit))
    if (result === null) throw new Error('the database returned no result for an emit')
    if (result instanceof Error) throw result
    // A rejected emit has no recipients, and any caller who knows the tenant id can send one. Such an emit must not
    // change the stored member count.
    const isMemberCount = result.outcome === 'written' && emit.recipients === null && emit.roles === null
    if (isMemberCount) memberCounts.set(emit.tenantId, result.count)
    return result
  }
}

// This limit on individual retries prevents a slow database from delaying the last emit for minutes.
const individualRetryMs = 10_000

type WriteAll = (emits: readonly store.Emit[]) => Promise<(store.EmitResult | null)[]>

/**
 * Writes all emits in one statement. If one emit cannot be written, each emit is retried individually, so that the
 * other emits succeed.
 */
async function writeEach(
  writeAll: WriteAll,
  emits: readonly store.Emit[],
): Promise<(WriteResult | Error | null)[]> {
  const writeSome = async (some: readonly store.Emit[]): Promise<(WriteResult | null)[]> =>
    (await writeAll(some)).map((result, index) => {
      const { id, createdAt } = some[index] as store.Emit
      return result === null ? null : { ...result, id, createdAt }
    })
  try {
    return await writeSome(emits)
  } catch (error) {
    // Timeouts are not retried, because the callers have already waited long enough.
    if (isOutcomeUnknown(error) && isRetryable(error))
      return await retryKeyedEmits(writeSome, emits, toError(error))
    if (emits.length === 1 || isOutcomeUnknown(error) || !isRolledBack(error)) throw error
    const results: (WriteResult | Error | null)[] = []
    const deadline = performance.now() + individualRetryMs
    for (const emit of emits)
      results.push(
        performance.now() > deadline
          ? unavailable('notifications cannot be written in time; try again')
          : await writeSome([emit]).then(([result]) => result ?? null, toError),
      )
    return results
  }
}

/**
 * Retries emits whose commit status is unknown. Only emits with a key are retried: if such an emit was
 * already committed, its key exists and the stored response is returned. Emits without a key fail.
 */
async function retryKeyedEmits(
  writeSome: (some: readonly store.Emit[]) => Promise<(WriteResult | null)[]>,
  emits: readonly store.Emit[],
  failure: Error,
): Promise<(WriteResult | Error | null)[]> {
  const keyedEmits = emits.filter(({ key }) => key !== null)
  const retryResults = keyedEmits.length === 0 ? [] : await writeSome(keyedEmits).catch(() => null)
  const results = new Map(
    keyedEmits.map(({ id }, index) => [id, retryResults === null ? failure : (retryResults[index] ?? null)]),
  )
  return emits.map(({ id }) => results.get(id) ?? failure)
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

/**
 * Returns whether the error means that the database rolled back: data (22), constraints (23), deadlocks (40),
 * triggers (P0), timeouts (57014).
 */
const isRolledBack = (error: unknown): boolean =>
  /^(?:22|23|40|P0|57014$)/.test((error as { code?: string }).code ?? '')

/**
 * Creates the partitions of the month if the first notification arrives before the schedule has created them.
 */
async function insertWithPartitions<T>(db: Db, insert: () => Promise<T>): Promise<T> {
  try {
    return await insert()
  } catch (error) {
    if (!isWithoutPartition(error)) throw error
    for (const table of partitionedTables) await preparePartitions(db.idempotent, table)
    return insert()
  }
}
