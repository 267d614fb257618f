// Bucket client. Requests have a deadline and share a few connections. A failure becomes a 503; its reason is logged
// without the sensitive content of SDK errors. The SDK is loaded when the first blob is used.
import type * as Sdk from '@aws-sdk/client-s3'
import { unavailable } from '../errors.ts'
import type { Logger } from '../log/log.ts'
import { type Deadline, startDeadline } from './deadline.ts'

/** Address, key prefix and credentials of a bucket. */
export type S3Settings = {
  /** If null, the client uses the AWS endpoint of the region. */
  endpoint: string | null
  region: string
  bucket: string
  /** Prefix of every object key. */
  prefix: string
  /**
   * If null, the SDK uses its default sources: environment variables, configuration files, or the role of the machine.
   */
  credentials: { accessKeyId: string; secretAccessKey: string } | null
}
type OpenedClient = { sdk: typeof Sdk; client: Sdk.S3Client }
type BucketRequest = OpenedClient & { deadline: Deadline; options: { abortSignal: AbortSignal } }

/** Maximum number of connections to the bucket. */
export const bucketConnections = 16
const connectTimeoutMs = 2_000

/** Creates a client that loads the SDK at the first request. */
export function createBucketClient(settings: S3Settings, log: Logger) {
  let pendingClient: Promise<OpenedClient> | null = null
  const startRequest = async (bytes: number): Promise<BucketRequest> => {
    const openedClient = await (pendingClient ??= openClient(settings, log))
    const deadline = startDeadline(bytes)
    return { ...openedClient, deadline, options: { abortSignal: deadline.signal } }
  }
  return {
    /** Runs a request; returns null for the errors in `expected`. `bytes` is the size of the request body. */
    request: async <T>(
      work: (request: BucketRequest) => Promise<T>,
      { expected: expectedErrors, bytes = 0 }: { expected?: ReadonlySet<string>; bytes?: number } = {},
    ): Promise<T | null> => {
      const request = await startRequest(bytes)
      try {
        return await work(request)
      } catch (error) {
        if (expectedErrors?.has((error as Error).name) === true) return null
        throw createUnavailableError(error, log)
      } finally {
        request.deadline.end()
      }
    },
    /** Yields the pieces of an object; yields nothing if the object does not exist. */
    read: async function* (location: { Bucket: string; Key: string }): AsyncGenerator<Buffer> {
      const { sdk, client, deadline, options } = await startRequest(0)
      try {
        const { Body, ContentLength = 0 } = await client.send(new sdk.GetObjectCommand(location), options)
        deadline.extend(ContentLength)
        for await (const piece of Body as AsyncIterable<Buffer>) yield piece
      } catch (error) {
        if ((error as Error).name !== 'NoSuchKey') throw createUnavailableError(error, log)
      } finally {
        deadline.end()
      }
    },
    close: async (): Promise<void> => {
      if (pendingClient !== null) (await pendingClient).client.destroy()
    },
  }
}

async function openClient({ endpoint, region, credentials }: S3Settings, log: Logger): Promise<OpenedClient> {
  const sdk = await import('@aws-sdk/client-s3')
  const agent = { keepAlive: true, maxSockets: bucketConnections, maxTotalSockets: bucketConnections }
  const client = new sdk.S3Client({
    region,
    ...(credentials === null ? {} : { credentials }),
    // Self-hosted services rarely have a host name for every bucket.
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
    maxAttempts: 2,
    // The request timeout of the SDK only logs a warning; the deadline replaces it.
    requestHandler: { connectionTimeout: connectTimeoutMs, httpAgent: agent, httpsAgent: agent },
    // With an Expect header, every large PUT would open a separate connection beyond the limit.
    expectContinueHeader: false,
    // The blob cache compares hashes, and not every service supports AWS checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    logger: createQuietLogger(log),
  })
  return { sdk, client }
}

const ignore = (): void => undefined
/** Suppresses the lower log levels, at which the SDK logs inputs and outputs. */
function createQuietLogger(log: Logger) {
  const warn = (message: unknown): void => {
    if (typeof message === 'string') log.warn({ notice: message.slice(0, 500) }, 'S3 client warning')
  }
  return { trace: ignore, debug: ignore, info: ignore, warn, error: warn }
}

/** Sets the known hash of the body, which the signature covers; otherwise the SDK computes it again. */
export function setContentHash(command: Sdk.PutObjectCommand, sha256: string): Sdk.PutObjectCommand {
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

/** Logs the failure, because 503 responses are not logged and operators must see that the bucket rejects the key. */
function createUnavailableError(error: unknown, log: Logger): Error {
  // Only these fields are logged: an SDK error contains the whole response, with headers and signatures.
  const { name, code, $metadata } = error as Error & {
    code?: string
    $metadata?: { httpStatusCode?: number }
  }
  log.warn({ failure: name, code, status: $metadata?.httpStatusCode }, 'bucket request failed')
  return unavailable('the bundle store is unavailable; try again')
}
