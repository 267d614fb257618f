// How blobs go. A blob is marked first, and from then on nothing can refer to it; its bytes and its row go together.
// Whatever is interrupted stays marked, and the next sweep finishes it.
import { type RawBuilder, sql } from 'kysely'
import type { Db, Queries } from '../postgres/handles.ts'
import { type BlobStores, type StoreName, storeNames } from './blob-store.ts'

export type BlobPlaces = { db: Db; stores: BlobStores }

const sweepBatch = 50
// One blob may be the trouble; after so many it is the store.
const sweepFailures = 3

/** Marks rows that nothing refers to; returns the oldest first. */
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

/** Removes bytes and row of a marked blob; the row stays locked meanwhile, so that nobody else removes them too. */
export function removeMarked({ db, stores }: BlobPlaces, sha256: string): Promise<boolean> {
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
    { runsOnce: true },
  )
}

/**
 * Costs by what is removed, not by what is kept. A store that fails is left for the next time, and does not keep the
 * other one from being swept.
 */
export async function sweepBlobs(places: BlobPlaces, graceMs: number, signal?: AbortSignal): Promise<number> {
  const ends = await Promise.allSettled(
    storeNames.map((store) => sweepStore(places, { store, graceMs, signal })),
  )
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return ends.reduce((sum, end) => sum + (end.status === 'fulfilled' ? end.value : 0), 0)
}

type StoreSweep = { store: StoreName; graceMs: number; signal: AbortSignal | undefined }

async function sweepStore(places: BlobPlaces, { store, graceMs, signal }: StoreSweep): Promise<number> {
  // The time of the statement, unlike that of the clock, is one value, by which the index is read.
  const due = sql`statement_timestamp() - ${graceMs} * interval '1 ms'`
  const failures: unknown[] = []
  for (let removed = 0; ;) {
    const marked = await markUnreferenced(
      places.db.write,
      sql<boolean>`store = ${store} and unreferenced_since < ${due}`,
    )
    for (const one of marked) {
      if (signal?.aborted === true) return removed
      try {
        if (await removeMarked(places, one)) removed++
      } catch (error) {
        await postpone(places.db.idempotent, one, due)
        if (failures.push(error) === sweepFailures) throw failures[0]
      }
    }
    if (marked.length === sweepBatch) continue
    if (failures.length > 0) throw failures[0]
    return removed
  }
}

/** A blob that could not be removed goes behind all others that are due, or it would keep them waiting for ever. */
async function postpone(db: Queries, sha256: string, due: RawBuilder<unknown>): Promise<void> {
  await sql`update blobs set unreferenced_since = ${due} where sha256 = ${sha256} and removing`.execute(db)
}
