// Creates identifiers. Stored objects have a UUIDv7, which sorts by creation time, so inserts stay local in the index.
import { randomFillSync, randomInt } from 'node:crypto'
import { v7 } from 'uuid'
import type { Clock } from './clock.ts'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Returns a new UUIDv7. */
export const newId = (): string => v7()

const randomPool = new Uint8Array(4_096)
let usedBytes = randomPool.length

/**
 * Returns a UUIDv7 from pooled random bytes, which is faster than `newId`. Ids from the same millisecond are not
 * ordered.
 */
export function newRequestId(): string {
  if (usedBytes === randomPool.length) {
    randomFillSync(randomPool)
    usedBytes = 0
  }
  usedBytes += 16
  return v7({ random: randomPool.subarray(usedBytes - 16, usedBytes) })
}

/** An id, and the creation time that it encodes. */
export type TimedId = { id: string; createdAt: string }

/**
 * Creates a generator for ids that encode the time of `clock`. Each id sorts after the previous one, even within a
 * millisecond and after the clock has been set back.
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

/** Returns the smallest id whose creation time is not before this time. */
export function createSmallestId(time: string): string {
  const hex = Date.parse(time).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/

/** Whether the text is a valid request id. Callers may choose their own ids. */
export const isRequestId = (text: string): boolean => requestIdPattern.test(text)

/** Returns the lower-case form of a UUID, or null if the text is not a UUID. */
export function parseUuid(text: unknown): string | null {
  if (typeof text !== 'string' || text.length !== 36) return null
  const lowerCaseText = text.toLowerCase()
  return uuidPattern.test(lowerCaseText) ? lowerCaseText : null
}
