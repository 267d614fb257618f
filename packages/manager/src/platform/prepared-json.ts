// Answers whose bytes are made once and sent many times.
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** A short body is a text: Node sends it together with the head of the answer in one write. */
export type PreparedJson = { body: string | Buffer; length: number; etag: string }

const maxTextBytes = 16_384

/** The bytes of a JSON answer and their strong validator. */
export function prepareJson(value: unknown): PreparedJson {
  const text = JSON.stringify(value)
  const bytes = Buffer.from(text)
  return {
    body: bytes.length <= maxTextBytes ? text : bytes,
    length: bytes.length,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`,
  }
}

let lastTurn: Promise<unknown> = Promise.resolve()

/** Resolves in a turn of the event loop that no other caller gets: long work goes one piece a turn, requests in between. */
export function takeTurn(): Promise<unknown> {
  lastTurn = lastTurn.then(() => nextTurn())
  return lastTurn
}
