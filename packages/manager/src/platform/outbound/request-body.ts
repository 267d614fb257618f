// Bodies that are not parsed here: taken whole or passed on as they come, and counted in either case by the bytes that
// really arrive.
import type { IncomingMessage } from 'node:http'
import { AppError, badRequest } from '../errors.ts'
import type { Held } from './held-bytes.ts'

/** The caller stopped sending before the end of his body. */
export class BodyBrokenOff extends Error {}

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

/** The body in parts, as they come; throws 413 at the first byte over the limit. */
export async function* passBody(
  request: IncomingMessage,
  maxBytes: number,
  onData: (chunk: Buffer) => void,
): AsyncGenerator<Buffer> {
  let bytes = 0
  try {
    // Who stops reading still wants to answer on the same connection.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Buffer).length
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      onData(chunk as Buffer)
      yield chunk as Buffer
    }
  } catch (error) {
    throw error instanceof AppError ? error : new BodyBrokenOff('the caller broke his request off')
  }
}

/** The whole body; what it takes is held before it arrives where its length is announced. */
export async function readBody(request: IncomingMessage, maxBytes: number, held: Held): Promise<Buffer> {
  const announced = request.headers['content-length']
  if (announced !== undefined) held.add(Number(announced))
  const onData = announced === undefined ? (chunk: Buffer) => held.add(chunk.length) : () => {}
  const arrived = arrivedBody(request, maxBytes)
  if (arrived !== undefined) return arrived ?? Buffer.alloc(0)
  const chunks: Buffer[] = []
  for await (const chunk of passBody(request, maxBytes, onData)) chunks.push(chunk)
  return Buffer.concat(chunks)
}
