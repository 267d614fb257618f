import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Holder } from '../blobs/blob-holds.ts'
import { matchesEtag, sendNotModified } from './send-cached.ts'

/** A file whose bytes never change under its URL. */
export type Bundle = { hash: string; size: number; contentType: string }

const contentHeaders = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  // If a bundle is opened as a page, the browser shows text or a download and runs nothing.
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
}

/**
 * Sends a bundle, or 304 if the client already has it. The bytes are read only if they are sent, and only
 * after all earlier responses on the connection have been sent.
 */
export async function sendBundle(
  request: FastifyRequest,
  reply: FastifyReply,
  { hash, size, contentType }: Bundle,
  read: (holder: Holder) => Promise<Buffer>,
): Promise<FastifyReply> {
  const progress = { bytes: 0 }
  const holder: Holder = {
    onClose: (listener) => void reply.raw.on('close', listener),
    getTransferredBytes: () => progress.bytes,
    end: () => void reply.raw.destroy(),
  }
  const etag = `"${hash}"`
  const ifNoneMatch = request.headers['if-none-match']
  const isUnmodified = ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, etag)
  // The bytes are read before any header is set, because a failure must not be cached.
  const body =
    isUnmodified || request.method === 'HEAD'
      ? null
      : await readAfterEarlierResponses(reply.raw, () => read(holder))
  void reply.headers(contentHeaders).header('etag', etag).header('x-pilet-hash', hash)
  if (isUnmodified) return sendNotModified(request, reply)
  void reply.header('content-type', contentType).header('content-length', size)
  // Fastify would replace the length of a HEAD response without a body with 0, but keeps the length of a
  // stream.
  if (body === null) return reply.send(Readable.from([]))
  return reply.send(body.length > pieceBytes ? streamPieces(body, progress) : body)
}

// Pieces are small enough to show how fast a client reads, and large enough to cost little.
const pieceBytes = 65_536

/** Streams the bytes in pieces, and sends each piece when the connection has room. */
function streamPieces(bytes: Buffer, progress: { bytes: number }): Readable {
  return new Readable({
    highWaterMark: pieceBytes,
    read() {
      const piece = bytes.subarray(progress.bytes, progress.bytes + pieceBytes)
      progress.bytes += piece.length
      this.push(piece.length === 0 ? null : piece)
    },
  })
}

const emptyBuffer = Buffer.alloc(0)

/**
 * Reads the bytes when all earlier responses on the connection have been sent; returns an empty buffer after
 * a disconnect.
 */
async function readAfterEarlierResponses(
  response: ServerResponse,
  read: () => Promise<Buffer>,
): Promise<Buffer> {
  // A response that is queued behind others on the connection has no socket yet.
  if (response.socket === null && !response.destroyed)
    await new Promise<void>((resolve) => {
      response.once('socket', () => resolve())
      response.once('close', () => resolve())
    })
  return response.destroyed ? emptyBuffer : read()
}
