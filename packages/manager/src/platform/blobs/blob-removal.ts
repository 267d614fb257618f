// Removes blobs. A blob is marked first; from then on, no row can refer to it. Its bytes and its row are deleted
// together. An interrupted removal stays marked, and the next sweep finishes it.
import { type RawBuilder, sql } from 'kysely'
import type { Db, Queries } from '../postgres/handles.ts'
import { type BlobStores, type StoreName, storeNames } from './blob-store.ts'

/** The database and the stores that contain the blobs. */
export type BlobStorage = { db: Db; stores: BlobStores }

const sweepBatch = 50
// A single blob may cause one or two failures; after three, the store is assumed to be at fault.
const maxSweepFailures = 3

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

/**
 * Removes the bytes and the row of a marked blob. The row stays locked, so that no other process removes the
 * blob concurrently.
 */
export function removeMarked({ db, stores }: BlobStorage, sha256: string): Promise<boolean> {
  return db.transaction(
    async (tx) => {
      const { rows } = await sql<{ store: StoreName }>`
      select store from blobs where sha256 = ${sha256} and removing for update skip locked`.execute(tx)
      const [row] = rows
      if (row === undefined) return false
      await stores.getStore(row.store).remove(sha256)
      await tx.deleteFrom('blobs').where('sha256', '=', sha256).execute()
      return true
    },
    { mustNotRetry: true },
  )
}

/**
 * Removes blobs that have been unreferenced for `graceMs`; returns the number of removed blobs. The cost depends on
 * the number of removed blobs, not on the number of retained ones. If one store fails, the sweep of the other store
 * continues, and the next sweep tries again.
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
  // An index scan needs a constant: statement_timestamp() is constant within a statement, but clock_timestamp() is not.
  const dueTime = sql`statement_timestamp() - ${graceMs} * interval '1 ms'`
  const failures: unknown[] = []
  for (let removedCount = 0; ;) {
    const markedHashes = await markUnreferenced(
      storage.db.write,
      sql<boolean>`store = ${store} and unreferenced_since < ${dueTime}`,
    )
    for (const sha256 of markedHashes) {
      if (signal?.aborted === true) return removedCount
      try {
        if (await removeMarked(storage, sha256)) removedCount++
      } catch (error) {
        await postpone(storage.db.idempotent, sha256, dueTime)
        if (failures.push(error) === maxSweepFailures) throw failures[0]
      }
    }
    if (markedHashes.length === sweepBatch) continue
    if (failures.length > 0) throw failures[0]
    return removedCount
  }
}

/**
 * Moves a blob that could not be removed behind all other due blobs. Otherwise, it would block them forever.
 */
async function postpone(db: Queries, sha256: string, dueTime: RawBuilder<unknown>): Promise<void> {
  await sql`update blobs set unreferenced_since = ${dueTime} where sha256 = ${sha256} and removing`.execute(
    db,
  )
}
