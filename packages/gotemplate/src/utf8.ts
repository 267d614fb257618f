// Go strings are bytes and JavaScript strings are UTF-16. The engine stores text as JavaScript strings. A byte that is
// not part of valid UTF-8, which results from "\xff" or from a slice that cuts a character, is stored as the lone
// surrogate U+DC00 + byte. Data is converted to well-formed text when it is read, so its surrogates never mix with
// such bytes.

const RAW = 0xdc00

const isRaw = (code: number): boolean => code >= RAW + 0x80 && code <= RAW + 0xff

/** Returns the text that represents one byte. */
export const decodeByte = (byte: number): string => String.fromCharCode(byte < 0x80 ? byte : RAW + byte)

/** Returns the length of the text in bytes, as in Go. */
export function countBytes(text: string): number {
  if (text.length >= 256 && text.isWellFormed()) return computeEncodedLength(text)
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x80 || isRaw(code)) continue
    if (code < 0x800) bytes += 1
    else bytes += 2
    // A surrogate pair has four bytes in two units. A lone surrogate has three bytes, like U+FFFD.
    if (isHigh(code) && isLow(text.charCodeAt(i + 1))) i++
  }
  return bytes
}

const isHigh = (code: number): boolean => code >= 0xd800 && code < RAW
const isLow = (code: number): boolean => code >= RAW && code <= 0xdfff

const CHUNK = 8192
const encoder = new TextEncoder()
const scratch = new Uint8Array(3 * (CHUNK + 1))

/** Counts the bytes of long text by encoding it, which is faster than a loop over its characters. */
function computeEncodedLength(text: string): number {
  let bytes = 0
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + CHUNK, text.length)
    if (isHigh(text.charCodeAt(end - 1))) end++
    bytes += encoder.encodeInto(text.slice(at, end), scratch).written
    at = end
  }
  return bytes
}

/** Returns the bytes of the text as in Go. */
export function toBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(countBytes(text))
  let at = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i) ?? 0
    if (code < 0x80) bytes[at++] = code
    else if (isRaw(code)) bytes[at++] = code - RAW
    else {
      if (code > 0xffff) i++
      at = encode(bytes, at, code >= 0xd800 && code <= 0xdfff ? 0xfffd : code)
    }
  }
  return bytes
}

function encode(bytes: Uint8Array, start: number, code: number): number {
  let at = start
  if (code < 0x800) bytes[at++] = 0xc0 | (code >> 6)
  else {
    if (code < 0x10000) bytes[at++] = 0xe0 | (code >> 12)
    else {
      bytes[at++] = 0xf0 | (code >> 18)
      bytes[at++] = 0x80 | ((code >> 12) & 0x3f)
    }
    bytes[at++] = 0x80 | ((code >> 6) & 0x3f)
  }
  bytes[at++] = 0x80 | (code & 0x3f)
  return at
}

/** Decodes bytes to text. Bytes that are not valid UTF-8 are preserved one by one. */
export function decodeBytes(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length;) {
    const first = bytes[i] ?? 0
    const size = computeSequenceSize(bytes, i)
    if (size === 1) text += decodeByte(first)
    else {
      let code = first & (0xff >> (size + 1))
      for (let k = 1; k < size; k++) code = (code << 6) | ((bytes[i + k] ?? 0) & 0x3f)
      text += String.fromCodePoint(code)
    }
    i += size
  }
  return text
}

/** Returns the length of the valid sequence that starts here, or 1 for ASCII or an invalid byte. */
function computeSequenceSize(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0
  if (first < 0xc2 || first > 0xf4) return 1
  const size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  // The second byte has a smaller range, which excludes overlong forms, surrogates and values above U+10FFFF.
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  for (let k = 1; k < size; k++) {
    const byte = bytes[at + k] ?? 0
    if (byte < (k === 1 ? low : 0x80) || byte > (k === 1 ? high : 0xbf)) return 1
  }
  return size
}

/** Replaces every lone surrogate with U+FFFD, as Go does when it reads JSON. */
export function toWellFormedText(text: string): string {
  // Most strings are short, and for a short string a loop is cheaper than a call.
  if (text.length > 16) return text.toWellFormed()
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0xd800) return text.toWellFormed()
  return text
}

/** Joins raw bytes that together form a character, and replaces other lone surrogates. */
export const joinBytes = (text: string): string => (text.isWellFormed() ? text : decodeBytes(toBytes(text)))

/** Returns text for callers of the package. Bytes that are not valid UTF-8 become U+FFFD. */
export const toPublicText = (text: string): string =>
  text.isWellFormed() ? text : decodeBytes(toBytes(text)).toWellFormed()

/** Compares strings by their bytes, as Go does. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  if (!a.isWellFormed() || !b.isWellFormed()) return compareBytes(toBytes(a), toBytes(b))
  const at = findFirstDifference(a, b)
  if (at === a.length || at === b.length) return a.length - b.length
  return getCodePointRank(a.charCodeAt(at)) - getCodePointRank(b.charCodeAt(at))
}

/**
 * Returns the index of the first difference. Long strings are bisected, because comparing slices is much faster than
 * comparing characters.
 */
function findFirstDifference(a: string, b: string): number {
  let start = 0
  let end = Math.min(a.length, b.length)
  while (end - start > 64) {
    const middle = (start + end) >> 1
    if (a.slice(start, middle) === b.slice(start, middle)) start = middle
    else end = middle
  }
  while (start < end && a.charCodeAt(start) === b.charCodeAt(start)) start++
  return start
}

/** Surrogates represent code points above U+FFFF and must sort after U+E000 to U+FFFF. */
const getCodePointRank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

const beyondBmpPattern = /[\ud800-\uffff]/

/** Sorts keys in place as Go does, by their bytes. */
export function sortText(keys: string[]): string[] {
  return keys.some((key) => beyondBmpPattern.test(key)) ? keys.sort(compareText) : keys.sort()
}
