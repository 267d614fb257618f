// What characters may be around a name in a text, cached for each one: testing a pattern at every character would
// cost more than all else. Pure, except for the cache.

/** Between a name and its separator. */
export const beforeSeparator = 1
/** In a name of several parts. */
export const ofPath = 2
export const betweenWords = 4
export const ofWord = 8
export const startsQuery = 16
export const endsQuery = 32
export const isSeparator = 64
const isKnown = 128

const patterns: readonly [number, RegExp][] = [
  [beforeSeparator, /[\s"'`\\\])>*_\ufffd-]/],
  [ofPath, /[\w.[\]\ufffd-]/],
  [betweenWords, /[\s+._\ufffd-]/],
  [ofWord, /[\p{L}\p{N}\p{M}]/u],
  [startsQuery, /[?&#]/],
  [endsQuery, /[\s"<>]/],
  [isSeparator, /[=:]/],
]
const known = new Uint8Array(0x1_00_00)

/** What the character at this place of the text may be, as a set of bits. */
export function classesAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  const classes = known[code] as number
  return classes === 0 ? learn(code) : classes
}

function learn(code: number): number {
  const character = String.fromCharCode(code)
  let classes = isKnown
  for (const [bit, pattern] of patterns) if (pattern.test(character)) classes |= bit
  known[code] = classes
  return classes
}

/**
 * Signs without which some searches find nothing: most texts are short, and a search that is left out is the fastest.
 */
export const signs = { query: 1, separator: 2, markup: 4, brace: 8, at: 16, dash: 32, lineEnd: 64, b: 128 }
const signsByCode = new Uint8Array(128)
for (const [sign, characters] of Object.entries({
  query: '?&#',
  separator: '=:',
  markup: '<',
  brace: '{',
  at: '@',
  dash: '-',
  lineEnd: '\r\n',
  b: 'bB',
}))
  for (const c of characters) signsByCode[c.charCodeAt(0)] = signs[sign as keyof typeof signs]

/** Which signs the text has, as a set of bits. */
export function signsOf(text: string): number {
  let all = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 128) all |= signsByCode[code] as number
  }
  return all
}

/** The code of the character at this place; -1 behind the end, where the NaN of `charCodeAt` makes it slow for good. */
export const codeAt = (text: string, at: number): number => (at < text.length ? text.charCodeAt(at) : -1)
