// A bucket in a real S3 service. The first file of a run that needs one has it started (engines/s3-keeper.ts); where there
// is one already, `TEST_S3_URL=http://<access key>:<secret key>@host:port` names it.
import { CreateBucketCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { createInterface } from 'node:readline'
import type { S3Settings } from '../../src/platform/blobs/s3-client.ts'
import type { S3Access } from '../engines/s3.ts'

const { env } = process

async function accessOfRun(): Promise<S3Access> {
  const given = env['TEST_S3_URL']
  if (given !== undefined) {
    const { origin, username, password } = new URL(given)
    return { endpoint: origin, accessKeyId: username, secretAccessKey: password }
  }
  const socket = await connectTo(env['TEST_S3_SOCKET'] as string)
  const [line] = (await once(createInterface(socket), 'line')) as [string]
  const answer = JSON.parse(line) as S3Access | { failed: string }
  if ('failed' in answer) throw new Error(`there is no S3 service for this test: ${answer.failed}`)
  return answer
}

/** The keeper was started with the run, and may need a moment. */
async function connectTo(path: string): Promise<Socket> {
  for (let tries = 0; ; tries++) {
    const socket = connect(path)
    try {
      await once(socket, 'connect')
      return socket
    } catch (error) {
      if (tries === 200) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

export type Bucket = {
  settings: S3Settings & { endpoint: string; credentials: NonNullable<S3Settings['credentials']> }
  client: S3Client
  /** What the service is told of it. */
  env: Record<string, string>
  /** The keys of all objects. */
  keys(): Promise<string[]>
  /** Puts other bytes in the place of a blob's. */
  replace(sha256: string, bytes: Buffer): Promise<void>
  close(): void
}

/** A new bucket, in the service of the run or another one. */
export async function createBucket(service?: S3Access): Promise<Bucket> {
  const { endpoint, accessKeyId, secretAccessKey } = service ?? (await accessOfRun())
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
      if (Key === undefined) throw new Error(`the bucket has no ${sha256}`)
      await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: bytes }))
    },
    close: () => client.destroy(),
  }
}
