// Responses that are serialized once and sent many times.
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** A JSON response. A short body is a string: Node sends it together with the response head in one write. */
export type EncodedJson = { body: string | Buffer; length: number; etag: string }

const maxStringBytes = 16_384

/** Serializes a JSON response and computes its strong ETag. */
export function encodeJson(value: unknown): EncodedJson {
  const text = JSON.stringify(value)
  const bytes = Buffer.from(text)
  return {
    body: bytes.length <= maxStringBytes ? text : bytes,
    length: bytes.length,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`,
  }
}

let lastTurn: Promise<unknown> = Promise.resolve()

/**
 * Resolves in a separate event loop turn for each caller. Long work runs piece by piece, one piece per turn, so that
 * requests can run between the pieces.
 */
export function yieldToEventLoop(): Promise<unknown> {
  lastTurn = lastTurn.then(() => nextTurn())
  return lastTurn
}
