import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Holder } from '../blobs/blob-holds.ts'
import { namesValidator, sendNotModified } from './send-cached.ts'

/** Bytes that never change under their address. */
export type Bundle = { hash: string; size: number; contentType: string }

const described = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  // Whoever opens a bundle as a page sees text or a download, and nothing in it runs.
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
}

/**
 * Sends a bundle, or 304 when the client has it; the bytes are read only where they are sent, and when they can be: not
 * while the responses before them on the same connection are unread.
 */
export async function sendBundle(
  request: FastifyRequest,
  reply: FastifyReply,
  { hash, size, contentType }: Bundle,
  read: (holder: Holder) => Promise<Buffer>,
): Promise<FastifyReply> {
  const sending = { bytes: 0 }
  const holder: Holder = {
    onClose: (listener) => void reply.raw.on('close', listener),
    movedBytes: () => sending.bytes,
    end: () => void reply.raw.destroy(),
  }
  const etag = `"${hash}"`
  const known = request.headers['if-none-match']
  const isKnown = known !== undefined && namesValidator(known, etag)
  // Before any header is set: what fails is not to be cached.
  const body = isKnown || request.method === 'HEAD' ? null : await readInTurn(reply.raw, () => read(holder))
  void reply.headers(described).header('etag', etag).header('x-pilet-hash', hash)
  if (isKnown) return sendNotModified(request, reply)
  void reply.header('content-type', contentType).header('content-length', size)
  // Of a HEAD without a body Fastify would say that it has no bytes; of a stream it believes our length.
  if (body === null) return reply.send(Readable.from([]))
  return reply.send(body.length > pieceBytes ? inPieces(body, sending) : body)
}

// Small enough to see how fast a client reads, and large enough to cost little.
const pieceBytes = 65_536

/** The bytes piece by piece, each when the connection has room for it. */
function inPieces(bytes: Buffer, sending: { bytes: number }): Readable {
  return new Readable({
    highWaterMark: pieceBytes,
    read() {
      const piece = bytes.subarray(sending.bytes, sending.bytes + pieceBytes)
      sending.bytes += piece.length
      this.push(piece.length === 0 ? null : piece)
    },
  })
}

const nothing = Buffer.alloc(0)

/** The bytes once it is the turn of their response on its connection; none when the client has left. */
async function readInTurn(response: ServerResponse, read: () => Promise<Buffer>): Promise<Buffer> {
  // A response that waits for others has no socket yet.
  if (response.socket === null && !response.destroyed)
    await new Promise<void>((resolve) => {
      response.once('socket', () => resolve())
      response.once('close', () => resolve())
    })
  return response.destroyed ? nothing : read()
}
