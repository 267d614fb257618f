// Builds large language packs, and text that is slow to match.
import type { KeyValuePair } from '../../src/platform/inputs/key-value-pairs.ts'

/** Functions that return a key for an index, each with a different key structure. */
export const shapes: Record<string, (index: number) => string> = {
  flat: (index) => `key${index}`,
  nested: (index) => `area${index % 10}.page${index % 100}.block${index % 1_000}.label${index}`,
  'one branch each': (index) => `k${index}.title`,
  numbers: (index) => `${(index * 1_000_003) % 4_294_967_291}.${index}`,
  'text and branch': (index) => (index % 2 === 0 ? `k${index}` : `k${index - 1}.b`),
}

/** Returns 10,000 keys with more than 1 MB of text. */
export const largePack = (): KeyValuePair[] =>
  Array.from({ length: 10_000 }, (_, index) => ({
    Key: `area${index % 40}.page${index % 400}.label${index}`,
    Value: `${index} `.padEnd(80, 'ä'),
  }))

/** Returns 5,000 keys of 20 parts each, without common prefixes. */
export const deepKeys = (): KeyValuePair[] =>
  Array.from({ length: 5_000 }, (_, index) => ({ Key: `k${index}${'.a'.repeat(19)}`, Value: 'v' }))

/** Strings that a carelessly written regular expression matches slowly. */
export const longTexts = [
  '-'.repeat(100_000),
  'a'.repeat(100_000),
  'de-'.repeat(50_000),
  `de${'-a'.repeat(50_000)}_`,
]
