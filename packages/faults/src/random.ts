// Generates random numbers from a seed.
import { createHash } from 'node:crypto'

/** Returns a seeded random number generator (mulberry32). Its numbers are between 0 and 1. */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Derives a seed from a string, so that a single seed yields independent streams. */
export const seedOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE(0)

/** Returns a random integer from 0 to `count` - 1. */
export const pick = (random: () => number, count: number): number => Math.floor(random() * count)

export function shuffle<T>(random: () => number, items: readonly T[]): T[] {
  const rest = [...items]
  return items.map(() => rest.splice(pick(random, rest.length), 1)[0] as T)
}
