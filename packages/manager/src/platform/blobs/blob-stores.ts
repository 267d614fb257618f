// The stores of an installation. If the setting changes, existing blobs stay in their store, so both stores may be in
// use.
import type { Database } from '../postgres/database.ts'
import type { PreparedStatement } from '../postgres/prepared.ts'
import type { Logger } from '../log/log.ts'
import { type BlobStore, type BlobStores, type StoreName, storeNames } from './blob-store.ts'
import { createPostgresStore } from './postgres-store.ts'
import { type S3Settings, bucketConnections } from './s3-client.ts'
import { type Generation, createS3Store } from './s3-store.ts'

const generationStatement: PreparedStatement = {
  name: 'blob-generation',
  kind: 'read',
  text: 'select generation, removing from blobs where sha256 = $1',
}

/** Creates the configured stores; `s3` is null if no bucket is configured. */
export function createBlobStores(options: {
  primary: StoreName
  database: Database
  s3: S3Settings | null
  log: Logger
}): BlobStores {
  const { database, log } = options
  const findGeneration = async (sha256: string): Promise<Generation | null> => {
    const [row] = await database.run<Generation>(generationStatement, [sha256])
    return row ?? null
  }
  const stores: Record<StoreName, BlobStore | null> = {
    postgres: createPostgresStore(database),
    s3: options.s3 === null ? null : createS3Store(options.s3, { log, findGeneration }),
  }
  return {
    primary: options.primary,
    names: storeNames.filter((name) => stores[name] !== null),
    getStore: (name) => {
      const store = stores[name]
      if (store === null)
        throw new Error('blobs are in a bucket that is not configured: set pilets.s3_bucket again')
      return store
    },
    connections: options.s3 === null ? 0 : bucketConnections,
    close: async () => {
      for (const store of Object.values(stores)) await store?.close()
    },
  }
}
