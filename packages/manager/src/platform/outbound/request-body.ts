// Bodies that are not parsed here: taken whole or passed on as they come, and counted in either case by the bytes that
// really arrive.
import type { IncomingMessage } from 'node:http'
import { AppError, badRequest } from '../errors.ts'
import { type Pace, type PaceLimits, createPace } from './body-pace.ts'
import type { Lease } from '../throttle/fair-share.ts'

/** The caller stopped sending before the end of the body. */
export class BodyAborted extends Error {}

const tooLarge = (maxBytes: number): AppError =>
  new AppError('payload_too_large', `the request body is larger than ${maxBytes} bytes`)

/** Throws 413 when the announced length is over the limit, and 400 for an encoding that would be lost on the way. */
export function checkAnnouncedBody(request: IncomingMessage, maxBytes: number): void {
  const encoding = request.headers['transfer-encoding'] ?? 'chunked'
  if (encoding.toLowerCase() !== 'chunked') throw badRequest('Transfer-Encoding must be chunked, or absent')
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
}

/** The body when it has arrived to its end already, null for an empty one; undefined while more is to come. */
export function arrivedBody(request: IncomingMessage, maxBytes: number): Buffer | null | undefined {
  if (!request.complete) return undefined
  const body = request.read() as Buffer | null
  if (body !== null && body.length > maxBytes) throw tooLarge(maxBytes)
  return body
}

/** A body that is passed on while it arrives. */
export type PassedBody = AsyncIterable<Buffer> & {
  /** True while the next part has to come from the caller. */
  isAwaited(): boolean
}
export type BodyLimits = PaceLimits & { maxBytes: number }

/** The body in parts, as they come; throws 413 at the first byte over the limit, and 400 when they come too slowly. */
export function passBody(
  request: IncomingMessage,
  limits: BodyLimits,
  onData: (chunk: Buffer) => void,
): PassedBody {
  const pace = createPace(limits)
  return {
    [Symbol.asyncIterator]: () => partsOf(request, limits.maxBytes, pace, onData),
    isAwaited: () => pace.isWaiting(),
  }
}

async function* partsOf(
  request: IncomingMessage,
  maxBytes: number,
  pace: Pace,
  onData: (chunk: Buffer) => void,
): AsyncGenerator<Buffer> {
  // After reading stops, the response is still sent on the same connection.
  const parts = request.iterator({ destroyOnReturn: false })
  let bytes = 0
  try {
    for (;;) {
      const { done, value: chunk } = (await pace.next(parts.next())) as IteratorResult<Buffer, undefined>
      if (done === true) return
      bytes += chunk.length
      pace.add(chunk.length)
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      onData(chunk)
      yield chunk
    }
  } catch (error) {
    throw error instanceof AppError ? error : new BodyAborted('the caller closed the connection')
  } finally {
    // Takes effect once the part that is waited for has come, or the connection is over.
    parts.return?.().catch(() => undefined)
  }
}

// Each part costs some hundred bytes beside its own, and a caller may send single bytes.
const maxLooseParts = 1_024

/** The whole body. What has arrived of it is counted, once there is room; what is only announced costs nothing yet. */
export async function readBody(
  request: IncomingMessage,
  limits: BodyLimits,
  buffered: Lease,
): Promise<Buffer> {
  const arrived = arrivedBody(request, limits.maxBytes)
  if (arrived !== undefined) {
    await buffered.add(arrived?.length ?? 0)
    return arrived ?? Buffer.alloc(0)
  }
  const joined: Buffer[] = []
  let loose: Buffer[] = []
  for await (const chunk of passBody(request, limits, () => undefined)) {
    await buffered.add(chunk.length)
    loose.push(chunk)
    if (loose.length < maxLooseParts) continue
    joined.push(Buffer.concat(loose))
    loose = []
  }
  return Buffer.concat([...joined, ...loose])
}
