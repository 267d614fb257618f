// Random choices that are reproducible from a seed.

export type Random = ReturnType<typeof createRandom>

/** Uses mulberry32: 32 bits of state are enough to choose test data. */
export function createRandom(seed: number) {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1))
  const pick = <T>(from: readonly T[]): T => from[int(0, from.length - 1)] as T
  const bytes = (count: number): Buffer => Buffer.from(Array.from({ length: count }, () => int(0, 255)))
  return {
    /** Returns an integer between the two bounds, inclusive. */
    int,
    pick,
    bytes,
    /** Returns true with this probability. */
    chance: (share: number): boolean => next() < share,
    /** Returns a random selection of the values, in random order. */
    some: <T>(from: readonly T[], share = 0.5): T[] =>
      from
        .filter(() => next() < share)
        .map((value) => ({ value, at: next() }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ value }) => value),
    uuid: (): string => {
      const text = bytes(16).toString('hex')
      return `${text.slice(0, 8)}-${text.slice(8, 12)}-4${text.slice(13, 16)}-8${text.slice(17, 20)}-${text.slice(20)}`
    },
    /** Returns random letters and digits. */
    text: (length: number): string =>
      Array.from({ length }, () =>
        pick(Array.from('ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789')),
      ).join(''),
  }
}
