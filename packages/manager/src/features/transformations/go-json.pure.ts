// Serializes values like Go's encoding/json: keys in byte order, and HTML characters escaped.

type Observer = {
  /** Called for every value, to count the work. */
  step: () => void
  /** Called for every number with its text. */
  onNumber: (value: number, text: string) => void
}

/** Maximum nesting depth, the same as in the print function. */
const maxDepth = 500

/** Returns the value as JSON. Values with a toJSON method, such as times, are serialized with that method. */
export function formatGoJson(value: unknown, observer: Observer, depth = 0): string {
  observer.step()
  if (typeof value === 'string') return formatJsonString(value)
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'number') {
    // JavaScript and Go format numbers identically except for negative zero.
    const text = Object.is(value, -0) ? '-0' : String(value)
    observer.onNumber(value, text)
    return text
  }
  if (typeof value !== 'object' || value === null) return 'null'
  if (depth > maxDepth) throw new Error(`a value is nested more than ${maxDepth} levels deep`)
  if (Array.isArray(value))
    return `[${value.map((element) => formatGoJson(element, observer, depth + 1)).join(',')}]`
  if (!(value instanceof Map) && 'toJSON' in value && typeof value.toJSON === 'function')
    return JSON.stringify(value)
  const map = value instanceof Map ? (value as Map<string, unknown>) : new Map(Object.entries(value))
  const fields = sortByBytes([...map.keys()]).map(
    (key) => `${formatJsonString(key)}:${formatGoJson(map.get(key), observer, depth + 1)}`,
  )
  return `{${fields.join(',')}}`
}

const needsByteOrder = /[\ud800-\uffff]/

/**
 * Sorts keys in place by their UTF-8 bytes. If all characters are at most U+D7FF, as in nearly all keys, the UTF-16
 * order is the same.
 */
function sortByBytes(keys: string[]): string[] {
  if (!keys.some((key) => needsByteOrder.test(key))) return keys.sort()
  return keys.sort((a, b) => compareBytes(a.toWellFormed(), b.toWellFormed()))
}

function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++)
    if (a.charCodeAt(i) !== b.charCodeAt(i)) return getRank(a.charCodeAt(i)) - getRank(b.charCodeAt(i))
  return a.length - b.length
}

/** Surrogates encode characters that sort after all other characters. */
const getRank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)

// oxlint-disable-next-line no-control-regex -- the pattern must match control characters
const specialCharacters = /["\\\u0000-\u001f<>&\u2028\u2029\ud800-\udfff]/
/** Characters that Go escapes differently from JavaScript: one pattern for the text, and one for its JSON. */
const differentCharacters = /[\b\f<>&\u2028\u2029]/
const differentEscapes = /\\[bf\\]|[<>&\u2028\u2029]/g
const goEscapes: Readonly<Record<string, string>> = {
  '\\b': '\\u0008',
  '\\f': '\\u000c',
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

/** Returns the text as a JSON string with quotes. */
export function formatJsonString(text: string): string {
  if (!specialCharacters.test(text)) return `"${text}"`
  const json = JSON.stringify(text.toWellFormed())
  return differentCharacters.test(text)
    ? json.replace(differentEscapes, (escape) => goEscapes[escape] ?? escape)
    : json
}
