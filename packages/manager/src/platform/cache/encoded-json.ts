// Responses whose bytes are made once and sent many times.
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** A short body is a text: Node sends it together with the head of the response in one write. */
export type EncodedJson = { body: string | Buffer; length: number; etag: string }

const maxTextBytes = 16_384

/** The bytes of a JSON response and their strong validator. */
export function encodeJson(value: unknown): EncodedJson {
  const text = JSON.stringify(value)
  const bytes = Buffer.from(text)
  return {
    body: bytes.length <= maxTextBytes ? text : bytes,
    length: bytes.length,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`,
  }
}

let lastTurn: Promise<unknown> = Promise.resolve()

/** Resolves in a turn of the event loop for this caller alone: long work runs one piece a turn, requests in between. */
export function yieldToEventLoop(): Promise<unknown> {
  lastTurn = lastTurn.then(() => nextTurn())
  return lastTurn
}
