// Large contents of language packs.
import type { KeyValuePair } from '../../src/platform/inputs/key-value-pairs.ts'

/** Keys of several shapes, by their position. */
export const shapes: Record<string, (index: number) => string> = {
  flat: (index) => `key${index}`,
  nested: (index) => `area${index % 10}.page${index % 100}.block${index % 1_000}.label${index}`,
  'one branch each': (index) => `k${index}.title`,
  numbers: (index) => `${(index * 1_000_003) % 4_294_967_291}.${index}`,
  'text and branch': (index) => (index % 2 === 0 ? `k${index}` : `k${index - 1}.b`),
}

/** 10,000 keys with more than a megabyte of texts. */
export const muchText = (): KeyValuePair[] =>
  Array.from({ length: 10_000 }, (_, index) => ({
    Key: `area${index % 40}.page${index % 400}.label${index}`,
    Value: `${index} `.padEnd(80, 'ä'),
  }))

/** 5,000 keys of 20 parts each, none of them shared. */
export const manyParts = (): KeyValuePair[] =>
  Array.from({ length: 5_000 }, (_, index) => ({ Key: `k${index}${'.a'.repeat(19)}`, Value: 'v' }))

/** Texts that a careless expression would take long over. */
export const longTexts = [
  '-'.repeat(100_000),
  'a'.repeat(100_000),
  'de-'.repeat(50_000),
  `de${'-a'.repeat(50_000)}_`,
]
