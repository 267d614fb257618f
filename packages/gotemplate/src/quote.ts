// Quotes text and characters as Go does, for %q and %#v.
import { isPrintable } from './unicode.ts'

const BACKSLASH = 0x5c

const namedEscapes: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
}

/** Quotes text as in Go source. With `isAscii`, non-ASCII characters are escaped too. */
export function quote(text: string, mark: '"' | "'", isAscii: boolean): string {
  const markCode = mark.charCodeAt(0)
  let quoted: string = mark
  let copiedLength = 0
  for (let at = 0; at < text.length; at++) {
    const start = at
    const code = text.codePointAt(at) ?? 0
    if (code >= 0x20 && code < 0x7f && code !== markCode && code !== BACKSLASH) continue
    if (code > 0xffff) at++
    // A lone surrogate represents a byte that is not valid UTF-8.
    const isRawByte = code >= 0xd800 && code <= 0xdfff
    quoted += text.slice(copiedLength, start)
    quoted += isRawByte ? `\\x${(code & 0xff).toString(16)}` : escapeCharacter(code, mark, isAscii)
    copiedLength = at + 1
  }
  return quoted + text.slice(copiedLength) + mark
}

function escapeCharacter(code: number, mark: string, isAscii: boolean): string {
  const character = String.fromCodePoint(code)
  if (character === mark || character === '\\') return `\\${character}`
  if (isPrintable(code) && (!isAscii || code < 0x80)) return character
  const name = namedEscapes[code]
  if (name !== undefined) return name
  const hex = code.toString(16)
  if (code < 0x20 || code === 0x7f) return `\\x${hex.padStart(2, '0')}`
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}

/** Returns whether Go can write the text as a raw string on one line. */
export function canBackquote(text: string): boolean {
  if (!text.isWellFormed()) return false
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if ((code < 0x20 && code !== 9) || code === 0x60 || code === 0x7f || code === 0xfeff) return false
  }
  return true
}
