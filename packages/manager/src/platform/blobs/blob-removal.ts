// Removes blobs. A blob is marked first; from then on, no row can refer to it. Its bytes and its row are deleted
// together. An interrupted removal stays marked, and the next sweep finishes it.
import { type RawBuilder, sql } from 'kysely'
import type { Db, Queries } from '../postgres/handles.ts'
import { type BlobStores, type StoreName, storeNames } from './blob-store.ts'

/** The database and the stores that contain the blobs. */
export type BlobStorage = { db: Db; stores: BlobStores }

const sweepBatch = 50
// A single blob may cause one or two failures; after three failures, the store is assumed to be at fault.
const sweepFailures = 3

/** Marks up to 50 unreferenced rows for removal; returns their hashes, oldest first. */
export async function markUnreferenced(db: Queries, which: RawBuilder<boolean>): Promise<string[]> {
  const { rows } = await sql<{ sha256: string; age: number }>`
    update blobs set removing = true where sha256 in (
      select sha256 from blobs where ${which}
      order by unreferenced_since limit ${sweepBatch} for update skip locked)
    returning sha256, extract(epoch from statement_timestamp() - unreferenced_since)::float8 as age`.execute(
    db,
  )
  return rows.toSorted((a, b) => b.age - a.age).map(({ sha256 }) => sha256)
}

/** Removes the bytes and the row of a marked blob. The row stays locked, so that no other process removes it too. */
export function removeMarked({ db, stores }: BlobStorage, sha256: string): Promise<boolean> {
  return db.transaction(
    async (tx) => {
      const { rows } = await sql<{ store: StoreName }>`
      select store from blobs where sha256 = ${sha256} and removing for update skip locked`.execute(tx)
      const [row] = rows
      if (row === undefined) return false
      await stores.of(row.store).remove(sha256)
      await tx.deleteFrom('blobs').where('sha256', '=', sha256).execute()
      return true
    },
    { mustNotRetry: true },
  )
}

/**
 * Removes blobs that have been unreferenced for `graceMs`; returns how many. The cost depends on the removed blobs, not
 * on the kept ones. A failing store is left for the next sweep, and does not prevent the sweep of the other store.
 */
export async function sweepBlobs(
  storage: BlobStorage,
  graceMs: number,
  signal?: AbortSignal,
): Promise<number> {
  const results = await Promise.allSettled(
    storeNames.map((store) => sweepStore(storage, { store, graceMs, signal })),
  )
  for (const result of results) if (result.status === 'rejected') throw result.reason
  return results.reduce((sum, result) => sum + (result.status === 'fulfilled' ? result.value : 0), 0)
}

type StoreSweep = { store: StoreName; graceMs: number; signal: AbortSignal | undefined }

async function sweepStore(storage: BlobStorage, { store, graceMs, signal }: StoreSweep): Promise<number> {
  // The index needs a constant: statement_timestamp() has one value per statement, clock_timestamp() does not.
  const due = sql`statement_timestamp() - ${graceMs} * interval '1 ms'`
  const failures: unknown[] = []
  for (let removed = 0; ;) {
    const marked = await markUnreferenced(
      storage.db.write,
      sql<boolean>`store = ${store} and unreferenced_since < ${due}`,
    )
    for (const one of marked) {
      if (signal?.aborted === true) return removed
      try {
        if (await removeMarked(storage, one)) removed++
      } catch (error) {
        await postpone(storage.db.idempotent, one, due)
        if (failures.push(error) === sweepFailures) throw failures[0]
      }
    }
    if (marked.length === sweepBatch) continue
    if (failures.length > 0) throw failures[0]
    return removed
  }
}

/** Moves a blob that could not be removed behind all others that are due; otherwise it would block them forever. */
async function postpone(db: Queries, sha256: string, due: RawBuilder<unknown>): Promise<void> {
  await sql`update blobs set unreferenced_since = ${due} where sha256 = ${sha256} and removing`.execute(db)
}
