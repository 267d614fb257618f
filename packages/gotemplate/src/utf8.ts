// Go strings are bytes and JavaScript strings are UTF-16. Text is kept as JavaScript text; a byte that is no part of
// valid UTF-8 (it comes from "\xff" or from a slice through a character) is kept as the lone surrogate U+DC00 + byte.
// Well-formed text holds no such surrogate, and data is made well-formed when it is read, so the two never mix.

const RAW = 0xdc00

const isRaw = (code: number): boolean => code >= RAW + 0x80 && code <= RAW + 0xff

/** The text that stands for one byte of any value. */
export const fromByte = (byte: number): string => String.fromCharCode(byte < 0x80 ? byte : RAW + byte)

/** The number of bytes the text has in Go. */
export function byteLength(text: string): number {
  if (text.length >= 256 && text.isWellFormed()) return encodedLength(text)
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x80 || isRaw(code)) continue
    if (code < 0x800) bytes += 1
    else bytes += 2
    // A pair has four bytes in its two units, a lone surrogate the three of U+FFFD.
    if (isHigh(code) && isLow(text.charCodeAt(i + 1))) i++
  }
  return bytes
}

const isHigh = (code: number): boolean => code >= 0xd800 && code < RAW
const isLow = (code: number): boolean => code >= RAW && code <= 0xdfff

const CHUNK = 8192
const encoder = new TextEncoder()
const scratch = new Uint8Array(3 * (CHUNK + 1))

/** The same for long text, which the platform encodes faster than it can be looked through here. */
function encodedLength(text: string): number {
  let bytes = 0
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + CHUNK, text.length)
    if (isHigh(text.charCodeAt(end - 1))) end++
    bytes += encoder.encodeInto(text.slice(at, end), scratch).written
    at = end
  }
  return bytes
}

/** The bytes of the text as Go holds them. */
export function toBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(byteLength(text))
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

/** The text of these bytes; what is not valid UTF-8 is kept byte by byte. */
export function fromBytes(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length;) {
    const first = bytes[i] ?? 0
    const size = sequenceSize(bytes, i)
    if (size === 1) text += fromByte(first)
    else {
      let code = first & (0xff >> (size + 1))
      for (let k = 1; k < size; k++) code = (code << 6) | ((bytes[i + k] ?? 0) & 0x3f)
      text += String.fromCodePoint(code)
    }
    i += size
  }
  return text
}

/** The length of the valid sequence that starts here; 1 for ASCII and for a byte that starts none. */
function sequenceSize(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0
  if (first < 0xc2 || first > 0xf4) return 1
  const size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  // The second byte is limited further: no overlong forms, no surrogates, nothing above U+10FFFF.
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  for (let k = 1; k < size; k++) {
    const byte = bytes[at + k] ?? 0
    if (byte < (k === 1 ? low : 0x80) || byte > (k === 1 ? high : 0xbf)) return 1
  }
  return size
}

/** The text with every lone surrogate replaced by U+FFFD, as Go does when it reads JSON. */
export function wellFormed(text: string): string {
  // Most texts are short, and looking through them here is cheaper than a call.
  if (text.length > 16) return text.toWellFormed()
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0xd800) return text.toWellFormed()
  return text
}

/** The same text, with raw bytes that together make a character joined into it, and other lone surrogates replaced. */
export const joinBytes = (text: string): string => (text.isWellFormed() ? text : fromBytes(toBytes(text)))

/** Text for the world outside: a byte that is not valid UTF-8 becomes U+FFFD. */
export const publicText = (text: string): string =>
  text.isWellFormed() ? text : fromBytes(toBytes(text)).toWellFormed()

/** Orders texts as Go does, by their bytes. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  if (!a.isWellFormed() || !b.isWellFormed()) return compareBytes(toBytes(a), toBytes(b))
  const at = firstDifference(a, b)
  if (at === a.length || at === b.length) return a.length - b.length
  return codePointRank(a.charCodeAt(at)) - codePointRank(b.charCodeAt(at))
}

/** Where two texts differ first. Halves of long texts are compared as a whole, which is much faster. */
function firstDifference(a: string, b: string): number {
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

/** Surrogates stand for code points above U+FFFF and sort behind U+E000 to U+FFFF. */
const codePointRank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

const beyondPlain = /[\ud800-\uffff]/

/** Sorts keys in place as Go does, by their bytes. */
export function sortText(keys: string[]): string[] {
  return keys.some((key) => beyondPlain.test(key)) ? keys.sort(compareText) : keys.sort()
}
