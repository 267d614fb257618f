// A bucket in a real S3 service, which starts when the first test needs it (engines.ts).
import { CreateBucketCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { randomBytes } from 'node:crypto'
import type { S3Settings } from '../../src/platform/blobs/s3-client.ts'
import type { S3Access } from '@manager/harness/engines/s3.ts'
import { s3Url } from '@manager/harness/run-engines.ts'

function accessOfRun(): S3Access {
  const { origin, username, password } = new URL(s3Url())
  return { endpoint: origin, accessKeyId: username, secretAccessKey: password }
}

export type Bucket = {
  settings: S3Settings & { endpoint: string; credentials: NonNullable<S3Settings['credentials']> }
  client: S3Client
  /** Settings that make the service use this bucket. */
  env: Record<string, string>
  keys(): Promise<string[]>
  /** Overwrites the bytes of a blob. */
  replace(sha256: string, bytes: Buffer): Promise<void>
  close(): void
}

/** Creates a bucket, in the S3 service of the run or in the given S3 service. */
export async function createBucket(service?: S3Access): Promise<Bucket> {
  const { endpoint, accessKeyId, secretAccessKey } = service ?? accessOfRun()
  const credentials = { accessKeyId, secretAccessKey }
  const bucket = `tests-${randomBytes(6).toString('hex')}`
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials })
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
  const keys = async (): Promise<string[]> => {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }))
    return Contents.map(({ Key }) => Key as string)
  }
  return {
    settings: { endpoint, region: 'us-east-1', bucket, prefix: 'pilets/', credentials },
    client,
    env: {
      SVC_PILETS_STORE: 's3',
      SVC_PILETS_S3_ENDPOINT: endpoint,
      SVC_PILETS_S3_BUCKET: bucket,
      SVC_PILETS_S3_ACCESS_KEY_ID: accessKeyId,
      SVC_PILETS_S3_SECRET_ACCESS_KEY: secretAccessKey,
    },
    keys,
    replace: async (sha256, bytes) => {
      const Key = (await keys()).find((key) => key.includes(sha256))
      if (Key === undefined) throw new Error(`object ${sha256} not found in the bucket`)
      await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: bytes }))
    },
    close: () => client.destroy(),
  }
}
