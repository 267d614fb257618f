// Creates blob stores without a service. Each store has its own database, and a bucket if it needs one.
import { PutObjectCommand, DeleteObjectCommand } from '@aws-sdk/client-s3'
import { createHash, randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { Pool } from 'pg'
import type { StoreName } from '../../src/platform/blobs/blob-store.ts'
import { createBlobStores } from '../../src/platform/blobs/blob-stores.ts'
import { createBlobs } from '../../src/platform/blobs/blobs.ts'
import { createDatabase } from '../../src/platform/postgres/database.ts'
import { createLog } from '../../src/platform/log/log.ts'
import { createScratchDatabase } from './databases.ts'
import { type Bucket, createBucket } from './s3.ts'

export type BlobsWorld = Awaited<ReturnType<typeof startBlobs>>
type Options = {
  /** Use this bucket instead of creating one. */
  bucket?: Bucket
  /** Connect to the S3 service at this endpoint instead. */
  endpoint?: string
}

export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Returns bytes that no other test uses. */
export function uniqueBytes(length: number): Buffer {
  const seed = Buffer.from(randomUUID())
  return length === 0 ? Buffer.alloc(0) : Buffer.alloc(length, seed.subarray(0, Math.min(length, 36)))
}

export async function startBlobs(primary: StoreName, { bucket: given, endpoint }: Options = {}) {
  const scratch = await createScratchDatabase()
  const lines: string[] = []
  const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
    lines.push(chunk.toString())
    done()
  }
  const log = createLog('debug', new Writable({ write }))
  const limits = { statementTimeoutMs: 60_000, acquireTimeoutMs: 60_000 }
  const statements: string[] = []
  const onStatement = (text: string): void => void statements.push(text)
  const database = createDatabase({ url: scratch.url, poolSize: 8, ...limits, log, onStatement })
  const bucket = primary === 's3' ? (given ?? (await createBucket())) : null
  const s3 = bucket && { ...bucket.settings, ...(endpoint === undefined ? {} : { endpoint }) }
  const stores = createBlobStores({ primary, database, s3, log })
  const sql = new Pool({ connectionString: scratch.url, max: 4 })
  const keyOf = async (sha256: string): Promise<string> => {
    const { rows } = await sql.query<{ generation: string }>(
      'select generation from blobs where sha256 = $1',
      [sha256],
    )
    return `pilets/${sha256}.${rows[0]?.generation}`
  }
  return {
    database,
    databaseUrl: scratch.url,
    stores,
    store: stores.getStore(primary),
    blobs: createBlobs({ db: database.db, stores }),
    sql,
    bucket,
    log,
    lines,
    /** SQL statements run so far. */
    statements,
    /** Inserts the blob row directly, for tests that do not call `store`. */
    register: (sha256: string, size: number) =>
      sql.query('insert into blobs (sha256, size, store) values ($1, $2, $3)', [sha256, size, primary]),
    /** Overwrites the stored bytes, or deletes them if `bytes` is null. */
    damage: async (sha256: string, bytes: Buffer | null): Promise<void> => {
      if (bucket === null) {
        if (bytes === null) await sql.query('delete from blob_chunks where sha256 = $1', [sha256])
        else
          await sql.query('update blob_chunks set bytes = $2 where sha256 = $1 and position = 0', [
            sha256,
            bytes,
          ])
        return
      }
      const object = { Bucket: bucket.settings.bucket, Key: await keyOf(sha256) }
      await (bytes === null
        ? bucket.client.send(new DeleteObjectCommand(object))
        : bucket.client.send(new PutObjectCommand({ ...object, Body: bytes })))
    },
    /** Counts the blobs that have stored bytes, including orphans without a row. */
    stored: async (): Promise<number> => {
      if (bucket !== null) return (await bucket.keys()).length
      const { rows } = await sql.query<{ n: number }>(
        'select count(distinct sha256)::int as n from blob_chunks',
      )
      return rows[0]?.n ?? 0
    },
    close: async (): Promise<void> => {
      await stores.close()
      await database.close()
      await sql.end()
      if (given === undefined) bucket?.close()
      await scratch.drop()
    },
  }
}

/** Returns all bytes of a blob, or null if the store does not contain it. */
export async function readAll({ store }: Pick<BlobsWorld, 'store'>, sha256: string): Promise<Buffer | null> {
  const pieces: Buffer[] = []
  for await (const piece of store.read(sha256)) pieces.push(piece)
  return pieces.length === 0 ? null : Buffer.concat(pieces)
}
