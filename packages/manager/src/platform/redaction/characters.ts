// What characters may be around a name in a text, remembered for each one: to ask a pattern at every character would
// cost more than all else. Pure, but for what it remembers.

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
