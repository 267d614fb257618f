// Writes notifications. Concurrent emits share a statement and its commit. Emits with named recipients have their own
// lane, because an emit to all members of a tenant can take long.
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../platform/clock.ts'
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
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
/** An emit without an id. */
export type PendingEmit = Omit<store.Emit, keyof TimedId>
export type Written = store.EmitResult & TimedId

/** Tables that are partitioned by month. */
export const partitionedTables = ['notifications', 'notification_recipients'] as const

/**
 * Maximum number of rows per statement. Such a statement takes a few milliseconds, which bounds the wait of the next
 * one.
 */
const maxRows = 5_000
/**
 * Assumed member count of a tenant until an emit to all members measures it. It is high, so few such emits share a
 * statement.
 */
const assumedMembers = 1_000
const maxSizes = 10_000

const isForMembers = ({ recipients, roles }: Pick<EmitInput, 'recipients' | 'roles'>): boolean =>
  recipients === null || roles !== null

/** Returns a function that writes one emit, coalesced with other emits of its kind. */
export function createEmitWriter({
  db,
  database,
  clock,
}: EmitWriterDeps): (emit: PendingEmit) => Promise<Written> {
  const nextId = createTimedIds(clock)
  const sizes = new LRUCache<string, number>({ max: maxSizes })
  let count = 0
  type Numbered = PendingEmit & { number: number }
  const lane = (
    writeAll: (emits: readonly store.Emit[]) => Promise<(store.EmitResult | null)[]>,
    rowsOf: (emit: PendingEmit) => number,
  ) =>
    createCoalesced<Numbered, Written | Error>({
      keyOf: ({ number }) => String(number),
      ownerOf: ({ projectId }) => projectId,
      // Concurrent commits would contend for the disk, and a single writer batches more emits per commit.
      maxConcurrent: 1,
      weight: { of: rowsOf, max: maxRows },
      run: (emits) => {
        const dated = emits.map(({ number: _number, ...emit }) => ({ ...emit, ...nextId() }))
        return writeEach((some) => withPartitions(db, () => writeAll(some)), dated)
      },
    })
  const toNamed = lane(
    (emits) => store.writeEmits(database.run, emits, 'named'),
    ({ recipients }) => recipients?.length ?? 0,
  )
  const toMembers = lane(
    (emits) => store.writeEmits(database.run, emits, 'members'),
    ({ tenantId }) => sizes.get(tenantId) ?? assumedMembers,
  )
  return async (emit) => {
    const numbered = { ...emit, number: count++ }
    const written = await (isForMembers(emit) ? toMembers(numbered) : toNamed(numbered))
    if (written === null) throw new Error('the database returned no result for an emit')
    if (written instanceof Error) throw written
    // A rejected emit has no recipients, and any caller who knows the tenant id can send one. It must not set the size.
    const isSize = written.outcome === 'written' && emit.recipients === null && emit.roles === null
    if (isSize) sizes.set(emit.tenantId, written.count)
    return written
  }
}

// This limits individual retries, so that a slow database does not delay the last emit for minutes.
const individualRetryMs = 10_000

type WriteAll = (emits: readonly store.Emit[]) => Promise<(store.EmitResult | null)[]>

/**
 * Writes all emits in one statement. If one cannot be written, each is retried individually so that the others succeed.
 */
async function writeEach(
  writeAll: WriteAll,
  emits: readonly store.Emit[],
): Promise<(Written | Error | null)[]> {
  const writeSome = async (some: readonly store.Emit[]): Promise<(Written | null)[]> =>
    (await writeAll(some)).map((result, index) => {
      const { id, createdAt } = some[index] as store.Emit
      return result === null ? null : { ...result, id, createdAt }
    })
  try {
    return await writeSome(emits)
  } catch (error) {
    // Timeouts are not retried, because the callers have waited long enough.
    if (isOutcomeUnknown(error) && isRetryable(error))
      return await retryKeyedEmits(writeSome, emits, asError(error))
    if (emits.length === 1 || isOutcomeUnknown(error) || !isRolledBack(error)) throw error
    const results: (Written | Error | null)[] = []
    const until = performance.now() + individualRetryMs
    for (const emit of emits)
      results.push(
        performance.now() > until
          ? unavailable('notifications cannot be written in time; try again')
          : await writeSome([emit]).then(([result]) => result ?? null, asError),
      )
    return results
  }
}

/**
 * Retries emits whose commit status is unknown. Only emits with a key are retried: if such an emit was already
 * committed, its key is taken and the stored response is returned. Emits without a key fail.
 */
async function retryKeyedEmits(
  writeSome: (some: readonly store.Emit[]) => Promise<(Written | null)[]>,
  emits: readonly store.Emit[],
  failure: Error,
): Promise<(Written | Error | null)[]> {
  const keyed = emits.filter(({ key }) => key !== null)
  const again = keyed.length === 0 ? [] : await writeSome(keyed).catch(() => null)
  const results = new Map(
    keyed.map(({ id }, index) => [id, again === null ? failure : (again[index] ?? null)]),
  )
  return emits.map(({ id }) => results.get(id) ?? failure)
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

/**
 * Returns whether the database rolled back: data (22), constraints (23), deadlocks (40), triggers (P0), timeouts
 * (57014).
 */
const isRolledBack = (error: unknown): boolean =>
  /^(?:22|23|40|P0|57014$)/.test((error as { code?: string }).code ?? '')

/** Creates the partitions of the month if the first notification arrives before the schedule created them. */
async function withPartitions<T>(db: Db, insert: () => Promise<T>): Promise<T> {
  try {
    return await insert()
  } catch (error) {
    if (!isWithoutPartition(error)) throw error
    for (const table of partitionedTables) await preparePartitions(db.idempotent, table)
    return insert()
  }
}
