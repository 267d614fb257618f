// Numbers that follow from a seed.
import { createHash } from 'node:crypto'

/** Numbers between 0 and 1 that follow from the seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A seed that follows from a text, so that one seed gives streams that have nothing to do with each other. */
export const seedOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE(0)

/** One of the numbers from 0 to below the count. */
export const pick = (random: () => number, count: number): number => Math.floor(random() * count)

/** The items in another order. */
export function shuffle<T>(random: () => number, items: readonly T[]): T[] {
  const rest = [...items]
  return items.map(() => rest.splice(pick(random, rest.length), 1)[0] as T)
}
