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
  // A bundle that is opened as a page shows text or a download, and nothing in it runs.
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
}

/**
 * Sends a bundle, or 304 if the client has it. The bytes are read only if they are sent, and not while earlier
 * responses on the same connection are unread.
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
  const isKnown = known !== undefined && matchesEtag(known, etag)
  // The bytes are read before any header is set, because a failure must not be cached.
  const body = isKnown || request.method === 'HEAD' ? null : await readInTurn(reply.raw, () => read(holder))
  void reply.headers(contentHeaders).header('etag', etag).header('x-pilet-hash', hash)
  if (isKnown) return sendNotModified(request, reply)
  void reply.header('content-type', contentType).header('content-length', size)
  // For a HEAD without a body Fastify would send a length of 0; for a stream it keeps this length.
  if (body === null) return reply.send(Readable.from([]))
  return reply.send(body.length > pieceBytes ? inPieces(body, sending) : body)
}

// Pieces are small enough to show how fast a client reads, and large enough to cost little.
const pieceBytes = 65_536

/** Streams the bytes in pieces, each when the connection has room for it. */
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

/** Reads the bytes when all earlier responses on the connection have been sent; returns none after a disconnect. */
async function readInTurn(response: ServerResponse, read: () => Promise<Buffer>): Promise<Buffer> {
  // A response behind others on the connection has no socket yet.
  if (response.socket === null && !response.destroyed)
    await new Promise<void>((resolve) => {
      response.once('socket', () => resolve())
      response.once('close', () => resolve())
    })
  return response.destroyed ? nothing : read()
}
