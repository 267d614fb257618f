// The time range and the random numbers of the demo history. The numbers are the same in every run.

/** A range of times in milliseconds: from (inclusive) to until (exclusive). */
export type Past = { from: number; until: number }

export type Random = {
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next: () => number
  /** Returns an integer in this range, both ends included. */
  between: (from: number, to: number) => number
  /** Returns a random integer; its mean over many calls is `average`. */
  count: (average: number) => number
}

/** Creates a generator (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    count: (average) => Math.floor(average + next()),
  }
}
