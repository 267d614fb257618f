type Range = readonly [start: number, end: number]

/**
 * Returns the ranges in which two texts differ, between their common start and their common end. Returns null if the
 * texts have less than half of their length in common: underlining both completely would be useless.
 */
export function findChange(before: string, after: string): { before: Range; after: Range } | null {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++
  if (2 * (start + end) < Math.max(before.length, after.length)) return null
  return { before: [start, before.length - end], after: [start, after.length - end] }
}
