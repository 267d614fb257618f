// Writes notifications. Those that arrive together share a statement and its commit; what names its recipients does not
// wait behind what is for all members of a tenant, of whom there may be very many.
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../platform/clock.ts'
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { isUnsure, isWorthAnother } from '../../platform/postgres/outcomes.ts'
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
export type Waiting = Omit<store.Emit, keyof TimedId>
export type Written = store.EmitResult & TimedId

/** By month. */
export const partitionedTables = ['notifications', 'notification_recipients'] as const

/** Rows of one statement: it takes some milliseconds, and what waits behind it waits no longer. */
const maxRows = 5_000
/** What a tenant is taken to have until an emit to all members says it: few go together, since it may be very many. */
const usualMembers = 1_000
const maxSizes = 10_000

const isForMembers = ({ recipients, roles }: Pick<EmitInput, 'recipients' | 'roles'>): boolean =>
  recipients === null || roles !== null

/** Returns a function that writes one emit, coalesced with others of its kind. */
export function createEmitWriter({
  db,
  database,
  clock,
}: EmitWriterDeps): (emit: Waiting) => Promise<Written> {
  const nextId = createTimedIds(clock)
  const sizes = new LRUCache<string, number>({ max: maxSizes })
  let count = 0
  type Numbered = Waiting & { number: number }
  const lane = (
    writeAll: (emits: readonly store.Emit[]) => Promise<(store.EmitResult | null)[]>,
    rowsOf: (emit: Waiting) => number,
  ) =>
    createCoalesced<Numbered, Written | Error>({
      keyOf: ({ number }) => String(number),
      ownerOf: ({ projectId }) => projectId,
      // Commits wait for each other at the disk anyway; fewer of them carry more.
      atOnce: 1,
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
    ({ tenantId }) => sizes.get(tenantId) ?? usualMembers,
  )
  return async (emit) => {
    const numbered = { ...emit, number: count++ }
    const written = await (isForMembers(emit) ? toMembers(numbered) : toNamed(numbered))
    if (written === null) throw new Error('an emit got no result')
    if (written instanceof Error) throw written
    // What is refused has no recipients, and may be of anyone who knows the tenant's id.
    const isSize = written.outcome === 'written' && emit.recipients === null && emit.roles === null
    if (isSize) sizes.set(emit.tenantId, written.count)
    return written
  }
}

// A slow database must not keep the last of them waiting for minutes.
const aloneForMs = 10_000

type WriteAll = (emits: readonly store.Emit[]) => Promise<(store.EmitResult | null)[]>

/** One emit that cannot be written must not make the others fail: then each is tried alone. */
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
    // After a timeout its callers have waited long enough.
    if (isUnsure(error) && isWorthAnother(error))
      return await writeKeyedAgain(writeSome, emits, asError(error))
    if (emits.length === 1 || isUnsure(error) || !isRolledBack(error)) throw error
    const results: (Written | Error | null)[] = []
    const until = performance.now() + aloneForMs
    for (const emit of emits)
      results.push(
        performance.now() > until
          ? unavailable('notifications cannot be written fast enough; try again')
          : await writeSome([emit]).then(([result]) => result ?? null, asError),
      )
    return results
  }
}

/**
 * Nobody knows whether these emits are written. One with a key may be written again: if it is there already, its key is
 * taken, and it gets the answer that is kept. The others fail as before.
 */
async function writeKeyedAgain(
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

/** The database says that nothing was written: data (22), constraints (23), deadlocks (40), triggers (P0), timeouts. */
const isRolledBack = (error: unknown): boolean =>
  /^(?:22|23|40|P0|57014$)/.test((error as { code?: string }).code ?? '')

/** Makes the partitions of the month when its first notification comes before they were made ahead. */
async function withPartitions<T>(db: Db, insert: () => Promise<T>): Promise<T> {
  try {
    return await insert()
  } catch (error) {
    if (!isWithoutPartition(error)) throw error
    for (const table of partitionedTables) await preparePartitions(db.idempotent, table)
    return insert()
  }
}
