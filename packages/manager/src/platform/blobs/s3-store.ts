// Blobs in a bucket of any S3-compatible service. An object is written once and never changed: the put is conditional.
import { createHash } from 'node:crypto'
import type { Logger } from '../log/log.ts'
import { type BlobStore, removedMeanwhile } from './blob-store.ts'
import { type S3Settings, createBucketClient, withHash } from './s3-client.ts'

/** Of a blob's row. */
export type Generation = { generation: string; removing: boolean }
type S3Deps = {
  log: Logger
  /**
   * What a blob's key has after its hash; null when there is no such blob. It differs whenever the same bytes come back
   * after a removal, so that a removal which the service carries out late does not meet them.
   */
  generationOf: (sha256: string) => Promise<Generation | null>
}
type Place = { Key: string; isGoing: boolean }

// The put that asks for nothing to be there finds something, meets another one, or is not known to the service.
const notPut = new Set(['PreconditionFailed', 'ConditionalRequestConflict', 'NotImplemented'])

export function createS3Store(settings: S3Settings, { log, generationOf }: S3Deps): BlobStore {
  const { bucket: Bucket, prefix } = settings
  const client = createBucketClient(settings, log)
  const find = async (sha256: string): Promise<Place | null> => {
    const found = await generationOf(sha256)
    if (found === null) return null
    return { Key: `${prefix}${sha256}.${found.generation}`, isGoing: found.removing }
  }
  const putAt = async ({ Key }: Place, sha256: string, bytes: Buffer): Promise<void> => {
    const put = (condition: { IfNoneMatch?: '*' }, expected: ReadonlySet<string>) =>
      client.ask(
        ({ sdk, client: s3, options }) => {
          const input = { Bucket, Key, ...condition, Body: bytes, ContentLength: bytes.length }
          return s3.send(withHash(new sdk.PutObjectCommand(input), sha256), options)
        },
        { bytes: bytes.length, expected },
      )
    if ((await put({ IfNoneMatch: '*' }, notPut)) !== null) return
    if ((await hashOf(client.read({ Bucket, Key }))) === sha256) return
    // What is there is not what its key says.
    await put({}, new Set())
  }
  const removeAt = ({ Key }: Place): Promise<unknown> =>
    client.ask(({ sdk, client: s3, options }) =>
      s3.send(new sdk.DeleteObjectCommand({ Bucket, Key }), options),
    )
  return {
    read: async function* (sha256) {
      const place = await find(sha256)
      if (place !== null) yield* client.read({ Bucket, Key: place.Key })
    },
    put: async (sha256, bytes) => {
      const place = await find(sha256)
      if (place === null || place.isGoing) throw removedMeanwhile()
      await putAt(place, sha256, bytes)
      const now = await find(sha256)
      if (now?.Key === place.Key && !now.isGoing) return
      // Whoever removed the blob may have come before these bytes.
      await removeAt(place)
      throw removedMeanwhile()
    },
    remove: async (sha256) => {
      const place = await find(sha256)
      if (place !== null) await removeAt(place)
    },
    close: () => client.close(),
  }
}

async function hashOf(pieces: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}
