// Blobs in a bucket of any S3-compatible service. An object is written once and never changed: the put is conditional.
import { createHash } from 'node:crypto'
import type { Logger } from '../log/log.ts'
import { type BlobStore, createBlobRemovedError } from './blob-store.ts'
import { type S3Settings, createBucketClient, setContentHash } from './s3-client.ts'

/** Columns of a blob's row that determine the key of its object and whether the object is being removed. */
export type Generation = { generation: string; removing: boolean }
type S3Deps = {
  log: Logger
  /**
   * Returns the suffix of a blob's object key; null if the blob does not exist. The suffix changes whenever the same
   * bytes are stored again after a removal, so that a delayed delete in the S3 service does not affect them.
   */
  findGeneration: (sha256: string) => Promise<Generation | null>
}
type StoredObject = { Key: string; isBeingRemoved: boolean }

// The conditional PUT fails if the object exists, if another PUT is running, or if the service does not
// support conditions.
const conditionalPutErrors = new Set(['PreconditionFailed', 'ConditionalRequestConflict', 'NotImplemented'])

/** Creates the store; every put reads the row of the blob before and after, to detect a removal. */
export function createS3Store(settings: S3Settings, { log, findGeneration }: S3Deps): BlobStore {
  const { bucket: Bucket, prefix } = settings
  const client = createBucketClient(settings, log)
  const find = async (sha256: string): Promise<StoredObject | null> => {
    const blobGeneration = await findGeneration(sha256)
    if (blobGeneration === null) return null
    return { Key: `${prefix}${sha256}.${blobGeneration.generation}`, isBeingRemoved: blobGeneration.removing }
  }
  const putAt = async ({ Key }: StoredObject, sha256: string, bytes: Buffer): Promise<void> => {
    const putObject = (condition: { IfNoneMatch?: '*' }, expectedErrors: ReadonlySet<string>) =>
      client.request(
        ({ sdk, client: s3, options }) => {
          const input = { Bucket, Key, ...condition, Body: bytes, ContentLength: bytes.length }
          return s3.send(setContentHash(new sdk.PutObjectCommand(input), sha256), options)
        },
        { bytes: bytes.length, expected: expectedErrors },
      )
    if ((await putObject({ IfNoneMatch: '*' }, conditionalPutErrors)) !== null) return
    if ((await computeHash(client.read({ Bucket, Key }))) === sha256) return
    // The stored object does not match the hash in its key, so it is overwritten.
    await putObject({}, new Set())
  }
  const removeAt = ({ Key }: StoredObject): Promise<unknown> =>
    client.request(({ sdk, client: s3, options }) =>
      s3.send(new sdk.DeleteObjectCommand({ Bucket, Key }), options),
    )
  return {
    read: async function* (sha256) {
      const object = await find(sha256)
      if (object !== null) yield* client.read({ Bucket, Key: object.Key })
    },
    put: async (sha256, bytes) => {
      const object = await find(sha256)
      if (object === null || object.isBeingRemoved) throw createBlobRemovedError()
      await putAt(object, sha256, bytes)
      const currentObject = await find(sha256)
      if (currentObject?.Key === object.Key && !currentObject.isBeingRemoved) return
      // The blob was removed concurrently, perhaps before these bytes were written. They are therefore deleted here.
      await removeAt(object)
      throw createBlobRemovedError()
    },
    remove: async (sha256) => {
      const object = await find(sha256)
      if (object !== null) await removeAt(object)
    },
    close: () => client.close(),
  }
}

async function computeHash(pieces: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}
