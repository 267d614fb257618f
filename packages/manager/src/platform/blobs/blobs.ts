// Blob lifecycle: registered, stored, referenced, and removed after a grace period without references. Each step is
// committed before the next one starts, so the sweep or a retry completes an interrupted step.
import { sql } from 'kysely'
import type { Queries, Tx } from '../postgres/handles.ts'
import { unavailable } from '../errors.ts'
import { type BlobStores, type StoreName, createBlobRemovedError } from './blob-store.ts'
import { type BlobStorage, markUnreferenced, removeMarked, sweepBlobs } from './blob-removal.ts'

// A table that refers to blobs needs a foreign key, a call of `reference` for each inserted row, and a trigger that
// records the deletion of rows (see migrations).

/**
 * A blob generation whose bytes are stored. `ownSince` identifies this use for `release`; it is null if the blob was
 * already registered.
 */
export type StoredBlob = { sha256: string; generation: string; ownSince: string | null }
/** Stores, references, releases and sweeps blobs. */
export type Blobs = ReturnType<typeof createBlobs>

type RegisteredBlob = { store: StoreName; generation: string; since: string | null; isNew: boolean }

/** Creates the blob operations for a database and its stores. */
export function createBlobs(storage: BlobStorage) {
  const { db, stores } = storage
  const register = (sha256: string, size: number) => registerBlob(db.write, stores, { sha256, size })
  return {
    /** Registers and stores bytes; the sweep may remove them until a row refers to them. */
    store: async (sha256: string, bytes: Buffer): Promise<StoredBlob> => {
      let row = await register(sha256, bytes.length)
      // An interrupted removal is finished here instead of by the next sweep.
      if (row === undefined && (await removeMarked(storage, sha256)))
        row = await register(sha256, bytes.length)
      if (row === undefined)
        throw unavailable('a stored file with the same content is being deleted; try again')
      await stores.getStore(row.store).put(sha256, bytes)
      return { sha256, generation: row.generation, ownSince: row.isNew ? row.since : null }
    },

    /**
     * Marks the blob as referenced, in the transaction that inserts the referring row. Waits for concurrent
     * transactions on the blob. Throws 503 if the blob has been replaced by a later generation, which may not have its
     * bytes yet.
     */
    reference: async (tx: Tx, { sha256, generation }: StoredBlob): Promise<void> => {
      const { numUpdatedRows } = await tx
        .updateTable('blobs')
        .set({ unreferencedSince: null })
        .where('sha256', '=', sha256)
        .where('generation', '=', generation)
        .where('removing', '=', false)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows === 0n) throw createBlobRemovedError()
    },

    /**
     * Removes a blob that was stored but not referenced. If another caller has used the blob before or after, the blob
     * is not removed: that caller or the sweep is responsible for it.
     */
    release: async ({ sha256, ownSince }: StoredBlob): Promise<void> => {
      if (ownSince === null) return
      const isOwnBlob = sql<boolean>`sha256 = ${sha256} and not removing and unreferenced_since = ${ownSince}::timestamptz`
      for (const markedHash of await markUnreferenced(db.write, isOwnBlob))
        await removeMarked(storage, markedHash)
    },

    /**
     * Removes blobs that have been unreferenced for `graceMs`; the signal stops the sweep between two blobs.
     */
    sweep: (graceMs: number, signal?: AbortSignal): Promise<number> => sweepBlobs(storage, graceMs, signal),
  }
}

/**
 * Inserts the row of a blob or restarts its grace period; waits for a running removal. Returns undefined if the blob is
 * still marked for removal.
 */
async function registerBlob(
  db: Queries,
  stores: BlobStores,
  { sha256, size }: { sha256: string; size: number },
): Promise<RegisteredBlob | undefined> {
  // An orphan in a bucket that is no longer configured moves to the primary store: the old store is unreachable.
  const mustMove = sql`blobs.unreferenced_since is not null and blobs.store <> all(${stores.names}::text[])`
  const { rows } = await sql<RegisteredBlob>`
    insert into blobs (sha256, size, store) values (${sha256}, ${size}, ${stores.primary})
    on conflict (sha256) do update
      set unreferenced_since = case when blobs.unreferenced_since is not null then clock_timestamp() end,
        store = case when ${mustMove} then excluded.store else blobs.store end,
        generation = case when ${mustMove} then excluded.generation else blobs.generation end,
        removing = false
      where not blobs.removing or (${mustMove})
    returning store, generation, unreferenced_since::text as since, xmax = 0 as is_new`.execute(db)
  return rows[0]
}
