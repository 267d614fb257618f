// The life of a blob: registered, stored, referred to, and removed once nothing has referred to it for a while. Each step
// is committed before the next begins, so that whatever is interrupted is either found by the sweep or done again.
import { sql } from 'kysely'
import type { Queries, Tx } from '../postgres/handles.ts'
import { unavailable } from '../errors.ts'
import { type BlobStores, type StoreName, removedMeanwhile } from './blob-store.ts'
import { type BlobPlaces, markUnreferenced, removeMarked, sweepBlobs } from './blob-removal.ts'

// A row refers to a blob by a foreign key and by `refer`; a trigger of its table notes when it goes (migrations).

/** A blob whose bytes are stored, of this generation. `ownSince` tells this use from later ones; null: there are others. */
export type KeptBlob = { sha256: string; generation: string; ownSince: string | null }
export type Blobs = ReturnType<typeof createBlobs>

type Registered = { store: StoreName; generation: string; since: string | null; isNew: boolean }

export function createBlobs(places: BlobPlaces) {
  const { db, stores } = places
  const register = (sha256: string, size: number) => registerBlob(db.write, stores, { sha256, size })
  return {
    /** Registers and stores bytes; until something refers to them they may be swept. */
    keep: async (sha256: string, bytes: Buffer): Promise<KeptBlob> => {
      let row = await register(sha256, bytes.length)
      // A removal that was interrupted is finished here rather than waited for.
      if (row === undefined && (await removeMarked(places, sha256)))
        row = await register(sha256, bytes.length)
      if (row === undefined) throw unavailable('the same bytes are being removed right now; try again')
      await stores.of(row.store).put(sha256, bytes)
      return { sha256, generation: row.generation, ownSince: row.isNew ? row.since : null }
    },

    /**
     * Called in the transaction of the row that refers to the blob. Waits for whoever else decides about it. A later
     * generation may have no bytes yet.
     */
    refer: async (tx: Tx, { sha256, generation }: KeptBlob): Promise<void> => {
      const { numUpdatedRows } = await tx
        .updateTable('blobs')
        .set({ unreferencedSince: null })
        .where('sha256', '=', sha256)
        .where('generation', '=', generation)
        .where('removing', '=', false)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows === 0n) throw removedMeanwhile()
    },

    /**
     * Removes a blob that was kept and not referred to. One that somebody else has begun to use, before or since, is left
     * to them and to the sweep.
     */
    release: async ({ sha256, ownSince }: KeptBlob): Promise<void> => {
      if (ownSince === null) return
      const own = sql<boolean>`sha256 = ${sha256} and not removing and unreferenced_since = ${ownSince}::timestamptz`
      for (const one of await markUnreferenced(db.write, own)) await removeMarked(places, one)
    },

    /** Removes what nothing has referred to for the time; a signal ends it between two blobs. */
    sweep: (graceMs: number, signal?: AbortSignal): Promise<number> => sweepBlobs(places, graceMs, signal),
  }
}

/** The row of the bytes, new or one more time; waits while they are removed. Undefined when a removal has not ended. */
async function registerBlob(
  db: Queries,
  stores: BlobStores,
  { sha256, size }: { sha256: string; size: number },
): Promise<Registered | undefined> {
  // An orphan of a bucket that is no longer configured moves: nobody could store or remove it where it is.
  const moves = sql`blobs.unreferenced_since is not null and blobs.store <> all(${stores.names}::text[])`
  const { rows } = await sql<Registered>`
    insert into blobs (sha256, size, store) values (${sha256}, ${size}, ${stores.primary})
    on conflict (sha256) do update
      set unreferenced_since = case when blobs.unreferenced_since is not null then clock_timestamp() end,
        store = case when ${moves} then excluded.store else blobs.store end,
        generation = case when ${moves} then excluded.generation else blobs.generation end,
        removing = false
      where not blobs.removing or (${moves})
    returning store, generation, unreferenced_since::text as since, xmax = 0 as is_new`.execute(db)
  return rows[0]
}
