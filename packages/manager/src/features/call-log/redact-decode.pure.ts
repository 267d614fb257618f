// The text of a body's bytes. Pure.
import { isUtf8 } from 'node:buffer'

const charset = /;\s*charset\s*=\s*"?'?([^\s"';]+)/i
const xmlEncoding = /^(?:\xef\xbb\xbf)?\s*<\?xml[^>]{1,100}?encoding\s*=\s*["']([^"']{1,40})/
// Of control characters text has tabs and line ends, and the mark between JSON texts (RFC 7464).
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const control = /[\x00-\x08\x0b\x0e-\x1d\x1f]/

const percentEscapes = /(?:%[0-9a-f]{2})+/gi

/** The text with `%` escapes resolved. An exception for malformed escapes would cost more than reading the text. */
export const percentDecoded = (text: string): string =>
  text.includes('%')
    ? text.replaceAll(percentEscapes, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString())
    : text

/** The text of the bytes, whose last character may be cut; null when they are not text or in no known charset. */
export function decodeText(bytes: Buffer, contentType: string | null, isCut: boolean): string | null {
  const inType = charset.exec(contentType ?? '')
  const [, declared] = inType ?? xmlEncoding.exec(bytes.toString('latin1', 0, 256)) ?? []
  try {
    const encoding = declared === undefined ? 'utf-8' : new TextDecoder(declared).encoding
    // UTF-8 is read as UTF-8 even if another charset is declared: in that one nothing sensitive would be recognized.
    return decodeUtf8(bytes, isCut) ?? (isTrusted(encoding, bytes) ? decode(encoding, bytes, isCut) : null)
  } catch {
    return null
  }
}

function decodeUtf8(bytes: Buffer, isCut: boolean): string | null {
  if (isCut) return decode('utf-8', bytes, isCut)
  const text = isUtf8(bytes) ? bytes.toString() : null
  return text === null || control.test(text) ? null : text
}

function decode(encoding: string, bytes: Buffer, isCut: boolean): string | null {
  try {
    const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut })
    return control.test(text) ? null : text
  } catch {
    return null
  }
}

/**
 * Bytes that spell something in ASCII must do so in the charset; else they would be shown garbled.
 */
const isTrusted = (encoding: string, bytes: Buffer): boolean =>
  encoding.startsWith('utf-16') ? !/[ -~]{4}/.test(bytes.toString('latin1')) : encoding !== 'iso-2022-jp'
