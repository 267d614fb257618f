// Request bodies that are not parsed: read completely or streamed. Limits apply to the bytes that actually arrive.
import type { IncomingMessage } from 'node:http'
import { AppError, badRequest } from '../errors.ts'
import { type BodyRateLimits, type RateGuard, createRateGuard } from './body-rate.ts'
import type { Lease } from '../throttle/fair-share.ts'

/** The caller stopped sending before the end of the body. */
export class BodyAbortedError extends Error {}

const createTooLargeError = (maxBytes: number): AppError =>
  new AppError('payload_too_large', `the request body is larger than ${maxBytes} bytes`)

/** A request whose body has arrived or is arriving. */
export type BodySource = Pick<IncomingMessage, 'complete' | 'headers' | 'iterator' | 'read'>

/** Throws 413 if the announced length exceeds the limit, and 400 for a transfer encoding that is not relayed. */
export function checkAnnouncedBody(request: BodySource, maxBytes: number): void {
  const encoding = request.headers['transfer-encoding'] ?? 'chunked'
  if (encoding.toLowerCase() !== 'chunked') throw badRequest('Transfer-Encoding must be chunked, or absent')
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw createTooLargeError(maxBytes)
}

/** Returns the body if it has arrived completely, null if it is empty, or undefined if it is incomplete. */
export function readCompleteBody(request: BodySource, maxBytes: number): Buffer | null | undefined {
  if (!request.complete) return undefined
  const body = request.read() as Buffer | null
  if (body !== null && body.length > maxBytes) throw createTooLargeError(maxBytes)
  return body
}

/** A body that is streamed while it arrives. */
export type StreamedBody = AsyncIterable<Buffer> & {
  /** True while waiting for the next chunk from the client. */
  isAwaited(): boolean
}
/** Limits for the rate and the size of a body. */
export type BodyLimits = BodyRateLimits & { maxBytes: number }

/** Streams the body; throws 413 at the first byte over the limit, and 400 if the chunks arrive too slowly. */
export function streamBody(
  request: BodySource,
  limits: BodyLimits,
  onData: (chunk: Buffer) => void,
): StreamedBody {
  const rate = createRateGuard(limits)
  return {
    [Symbol.asyncIterator]: () => streamChunks(request, limits.maxBytes, rate, onData),
    isAwaited: () => rate.isWaiting(),
  }
}

async function* streamChunks(
  request: BodySource,
  maxBytes: number,
  rate: RateGuard,
  onData: (chunk: Buffer) => void,
): AsyncGenerator<Buffer> {
  // The connection must stay open if the iteration ends early, because the response is still sent on it.
  const chunkIterator = request.iterator({ destroyOnReturn: false })
  let bytes = 0
  try {
    for (;;) {
      const { done, value: chunk } = (await rate.next(chunkIterator.next())) as IteratorResult<
        Buffer,
        undefined
      >
      if (done === true) return
      bytes += chunk.length
      rate.add(chunk.length)
      if (bytes > maxBytes) throw createTooLargeError(maxBytes)
      onData(chunk)
      yield chunk
    }
  } catch (error) {
    throw error instanceof AppError ? error : new BodyAbortedError('the caller closed the connection')
  } finally {
    // Takes effect when the pending chunk has arrived or the connection is closed.
    chunkIterator.return?.().catch(() => undefined)
  }
}

// Each chunk costs a few hundred bytes of overhead, and a client can send one byte at a time.
const maxUnjoinedChunks = 1_024

/** Reads the whole body. `bufferLease` is charged for the bytes that have arrived, not for the declared length. */
export async function readBody(request: BodySource, limits: BodyLimits, bufferLease: Lease): Promise<Buffer> {
  const completedBody = readCompleteBody(request, limits.maxBytes)
  if (completedBody !== undefined) {
    await bufferLease.add(completedBody?.length ?? 0)
    return completedBody ?? Buffer.alloc(0)
  }
  const joinedChunks: Buffer[] = []
  let unjoinedChunks: Buffer[] = []
  for await (const chunk of streamBody(request, limits, () => undefined)) {
    await bufferLease.add(chunk.length)
    unjoinedChunks.push(chunk)
    if (unjoinedChunks.length < maxUnjoinedChunks) continue
    joinedChunks.push(Buffer.concat(unjoinedChunks))
    unjoinedChunks = []
  }
  return Buffer.concat([...joinedChunks, ...unjoinedChunks])
}
