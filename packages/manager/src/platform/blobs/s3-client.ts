// How a bucket is asked: within a deadline, over few connections, and so that a failure is a 503 whose reason is logged
// without what the SDK's errors hold. The SDK is loaded when the first blob is used.
import type * as Sdk from '@aws-sdk/client-s3'
import { unavailable } from '../errors.ts'
import type { Logger } from '../log/log.ts'
import { type Deadline, startDeadline } from './deadline.ts'

export type S3Settings = {
  /** Null means the address of the region at AWS. */
  endpoint: string | null
  region: string
  bucket: string
  /** Before the hash in the key of every object. */
  prefix: string
  /** Without them the SDK looks for credentials where it always does: environment, files, the machine's role. */
  credentials: { accessKeyId: string; secretAccessKey: string } | null
}
type Opened = { sdk: typeof Sdk; client: Sdk.S3Client }
type Asked = Opened & { deadline: Deadline; options: { abortSignal: AbortSignal } }

/** Connections to the bucket, at most. */
export const bucketConnections = 16
const connectTimeoutMs = 2_000

export function createBucketClient(settings: S3Settings, log: Logger) {
  let opening: Promise<Opened> | null = null
  const begin = async (bytes: number): Promise<Asked> => {
    const opened = await (opening ??= openClient(settings, log))
    const deadline = startDeadline(bytes)
    return { ...opened, deadline, options: { abortSignal: deadline.signal } }
  }
  return {
    /** Asks once; null for the failures that are named. `bytes` are those that are sent. */
    ask: async <T>(
      work: (asked: Asked) => Promise<T>,
      { expected, bytes = 0 }: { expected?: ReadonlySet<string>; bytes?: number } = {},
    ): Promise<T | null> => {
      const asked = await begin(bytes)
      try {
        return await work(asked)
      } catch (error) {
        if (expected?.has((error as Error).name) === true) return null
        throw asUnavailable(error, log)
      } finally {
        asked.deadline.end()
      }
    },
    /** The pieces of an object; none when there is no such object. */
    read: async function* (place: { Bucket: string; Key: string }): AsyncGenerator<Buffer> {
      const { sdk, client, deadline, options } = await begin(0)
      try {
        const { Body, ContentLength = 0 } = await client.send(new sdk.GetObjectCommand(place), options)
        deadline.extend(ContentLength)
        for await (const piece of Body as AsyncIterable<Buffer>) yield piece
      } catch (error) {
        if ((error as Error).name !== 'NoSuchKey') throw asUnavailable(error, log)
      } finally {
        deadline.end()
      }
    },
    close: async (): Promise<void> => {
      if (opening !== null) (await opening).client.destroy()
    },
  }
}

async function openClient({ endpoint, region, credentials }: S3Settings, log: Logger): Promise<Opened> {
  const sdk = await import('@aws-sdk/client-s3')
  const agent = { keepAlive: true, maxSockets: bucketConnections, maxTotalSockets: bucketConnections }
  const client = new sdk.S3Client({
    region,
    ...(credentials === null ? {} : { credentials }),
    // A service of one's own rarely has a name for every bucket.
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
    maxAttempts: 2,
    // Its own timeout of requests only warns; ours is the deadline.
    requestHandler: { connectionTimeout: connectTimeoutMs, httpAgent: agent, httpsAgent: agent },
    // It would take a connection of its own, beyond all limits, for every larger put.
    expectContinueHeader: false,
    // We compare hashes ourselves, and not every service knows the checksums of AWS.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    logger: quietLogger(log),
  })
  return { sdk, client }
}

const none = (): void => undefined
/** The SDK writes inputs and outputs at the lower levels. */
function quietLogger(log: Logger) {
  const say = (message: unknown): void => {
    if (typeof message === 'string') log.warn({ notice: message.slice(0, 500) }, 'notice of the S3 client')
  }
  return { trace: none, debug: none, info: none, warn: say, error: say }
}

/** The signature covers the hash of the bytes, which is known; the SDK would compute it again. */
export function withHash(command: Sdk.PutObjectCommand, sha256: string): Sdk.PutObjectCommand {
  command.middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { headers: Record<string, string> }
      headers['x-amz-content-sha256'] = sha256
      return next(args)
    },
    { step: 'build', name: 'knownContentHash' },
  )
  return command
}

/** Logged here, because a 503 is not: whoever runs the service must see that the bucket refuses its key. */
function asUnavailable(error: unknown, log: Logger): Error {
  // Only these: an error of the SDK holds the whole answer, with headers and signatures.
  const { name, code, $metadata } = error as Error & {
    code?: string
    $metadata?: { httpStatusCode?: number }
  }
  log.warn({ failure: name, code, status: $metadata?.httpStatusCode }, 'the bucket did not do what was asked')
  return unavailable('the store of bundles does not answer right now; try again')
}
