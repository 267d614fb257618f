// Values as Go's encoding/json writes them: keys in the order of their bytes, and escaped what means something in HTML.

type Observer = {
  /** Counts the work of one value. */
  step: () => void
  /** Told of every number and its text. */
  onNumber: (value: number, text: string) => void
}

/** Lists and maps may be written this deep; it is the same depth that print has. */
const maxDepth = 500

/** The value as JSON; values with a toJSON method, such as times, are written by it. */
export function goJson(value: unknown, observer: Observer, depth = 0): string {
  observer.step()
  if (typeof value === 'string') return jsonString(value)
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'number') {
    // JavaScript and Go write the same numbers, but for the sign of zero.
    const text = Object.is(value, -0) ? '-0' : String(value)
    observer.onNumber(value, text)
    return text
  }
  if (typeof value !== 'object' || value === null) return 'null'
  if (depth > maxDepth) throw new Error(`a value is nested more than ${maxDepth} deep`)
  if (Array.isArray(value))
    return `[${value.map((element) => goJson(element, observer, depth + 1)).join(',')}]`
  if (!(value instanceof Map) && 'toJSON' in value && typeof value.toJSON === 'function')
    return JSON.stringify(value)
  const map = value instanceof Map ? (value as Map<string, unknown>) : new Map(Object.entries(value))
  const fields = inByteOrder([...map.keys()]).map(
    (key) => `${jsonString(key)}:${goJson(map.get(key), observer, depth + 1)}`,
  )
  return `{${fields.join(',')}}`
}

const beyondPlain = /[\ud800-\uffff]/

/** Sorts keys in place by their bytes. Up to U+D7FF, which is nearly always, UTF-16 has the same order. */
function inByteOrder(keys: string[]): string[] {
  if (!keys.some((key) => beyondPlain.test(key))) return keys.sort()
  return keys.sort((a, b) => compareBytes(a.toWellFormed(), b.toWellFormed()))
}

function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++)
    if (a.charCodeAt(i) !== b.charCodeAt(i)) return rank(a.charCodeAt(i)) - rank(b.charCodeAt(i))
  return a.length - b.length
}

/** Halves of pairs stand for characters that come after all others. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const special = /["\\\u0000-\u001f<>&\u2028\u2029\ud800-\udfff]/
/** What Go writes differently from JavaScript, in the text and in its JSON. */
const different = /[\b\f<>&\u2028\u2029]/
const differentJson = /\\[bf\\]|[<>&\u2028\u2029]/g
const goEscapes: Readonly<Record<string, string>> = {
  '\\b': '\\u0008',
  '\\f': '\\u000c',
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

/** A text as a JSON string, with its quotes. */
export function jsonString(text: string): string {
  if (!special.test(text)) return `"${text}"`
  const json = JSON.stringify(text.toWellFormed())
  return different.test(text) ? json.replace(differentJson, (escape) => goEscapes[escape] ?? escape) : json
}
