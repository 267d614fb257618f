// Blobs in the database, so that small installations need no bucket. Bytes are written and read in chunks: neither side
// keeps a blob in memory twice, and other work can run between chunks.
import { sql } from 'kysely'
import type { Database } from '../postgres/database.ts'
import type { PreparedStatement } from '../postgres/prepared.ts'
import { type BlobStore, createBlobRemovedError } from './blob-store.ts'

const chunkBytes = 262_144
const chunksPerStatement = 4

const readStatement: PreparedStatement = {
  name: 'blob-chunks',
  kind: 'read',
  size: 'large',
  text: `select bytes from blob_chunks where sha256 = $1 and position >= $2 order by position limit ${chunksPerStatement}`,
}

/** Creates the store. Its `remove` does nothing: deleting the row in `blobs` also deletes the chunks. */
export function createPostgresStore({ db, run }: Pick<Database, 'db' | 'run'>): BlobStore {
  return {
    put: async (sha256, bytes) => {
      const write = db.transaction(async (tx) => {
        const chunks = splitIntoChunks(bytes)
        for (let offset = 0; offset < chunks.length; offset += chunksPerStatement)
          await tx
            .insertInto('blobChunks')
            .values(
              chunks.slice(offset, offset + chunksPerStatement).map((chunk, index) => ({
                sha256,
                position: offset + index,
                bytes: chunk,
              })),
            )
            .onConflict((conflict) =>
              conflict
                .columns(['sha256', 'position'])
                .doUpdateSet((eb) => ({ bytes: eb.ref('excluded.bytes') }))
                .where(sql<boolean>`blob_chunks.bytes <> excluded.bytes`),
            )
            .execute()
        await tx
          .deleteFrom('blobChunks')
          .where('sha256', '=', sha256)
          .where('position', '>=', chunks.length)
          .execute()
      })
      await write.catch(rethrowAsRemoved)
    },

    read: async function* (sha256) {
      for (let position = 0; ; position += chunksPerStatement) {
        const rows = await run<{ bytes: Buffer }>(readStatement, [sha256, position])
        for (const { bytes } of rows) yield bytes
        if (rows.length < chunksPerStatement) return
      }
    },

    remove: async () => undefined,
    close: async () => undefined,
  }
}

/** Chunks refer to the row of their blob, so a foreign key violation means that the blob was removed. */
function rethrowAsRemoved(error: unknown): never {
  if ((error as { constraint?: string }).constraint === 'blob_chunks_blob_fkey')
    throw createBlobRemovedError(error)
  throw error
}

const splitIntoChunks = (bytes: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) =>
    bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  )
