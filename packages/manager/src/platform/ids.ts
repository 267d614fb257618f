// Identifiers: UUIDv7 for everything we create (they sort by creation time, so inserts stay local in the index).
import { randomFillSync, randomInt } from 'node:crypto'
import { v7 } from 'uuid'
import type { Clock } from './clock.ts'

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A new UUIDv7. */
export const newId = (): string => v7()

const pool = new Uint8Array(4_096)
let used = pool.length

/** The same for a request: random bytes are fetched for many at once, and two of one millisecond sort in any order. */
export function newRequestId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += 16
  return v7({ random: pool.subarray(used - 16, used) })
}

/** An id, and the time that it carries. */
export type TimedId = { id: string; createdAt: string }

/**
 * Ids by a clock that is not this machine's. Each sorts after those before it, also within a millisecond and when the
 * clock is set back.
 */
export function createTimedIds(clock: Clock): () => TimedId {
  let [msecs, seq] = [0, 0]
  return () => {
    const now = clock.now().getTime()
    if (now > msecs) [msecs, seq] = [now, randomInt(2 ** 31)]
    else if (++seq === 2 ** 32) [msecs, seq] = [msecs + 1, 0]
    return { id: v7({ msecs, seq }), createdAt: new Date(msecs).toISOString() }
  }
}

const requestIdForm = /^[A-Za-z0-9._-]{1,64}$/

/** Whether a request can have the text as its id: callers may choose one of this form. */
export const isRequestId = (text: string): boolean => requestIdForm.test(text)

/** The lower-case form of a UUID, or null when the text is not one. */
export function parseUuid(text: unknown): string | null {
  if (typeof text !== 'string' || text.length !== 36) return null
  const lower = text.toLowerCase()
  return uuidForm.test(lower) ? lower : null
}
