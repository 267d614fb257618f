// Decodes the bytes of a body to text.
import { isUtf8 } from 'node:buffer'

const charset = /;\s*charset\s*=\s*"?'?([^\s"';]+)/i
const xmlEncoding = /^(?:\xef\xbb\xbf)?\s*<\?xml[^>]{1,100}?encoding\s*=\s*["']([^"']{1,40})/
// Text contains no control characters except tabs, line breaks and the separator between JSON values (RFC
// 7464).
// oxlint-disable-next-line no-control-regex -- the pattern detects control characters
const controlCharacter = /[\x00-\x08\x0b\x0e-\x1d\x1f]/

const percentEscapes = /(?:%[0-9a-f]{2})+/gi

/**
 * Decodes `%` escapes. Malformed escapes do not throw, because an exception would cost more than decoding the
 * text.
 */
export const decodePercentEscapes = (text: string): string =>
  text.includes('%')
    ? text.replaceAll(percentEscapes, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString())
    : text

/**
 * Decodes the bytes, whose last character can be truncated. Returns null if they are not text or the charset is
 * unknown.
 */
export function decodeText(bytes: Buffer, contentType: string | null, isTruncated: boolean): string | null {
  const charsetMatch = charset.exec(contentType ?? '')
  const [, declaredCharset] = charsetMatch ?? xmlEncoding.exec(bytes.toString('latin1', 0, 256)) ?? []
  try {
    const encoding = declaredCharset === undefined ? 'utf-8' : new TextDecoder(declaredCharset).encoding
    // Valid UTF-8 is decoded as UTF-8 even if a different charset is declared: in that charset, no sensitive name
    // would be recognized.
    return (
      decodeUtf8(bytes, isTruncated) ??
      (isTrusted(encoding, bytes) ? decode(encoding, bytes, isTruncated) : null)
    )
  } catch {
    return null
  }
}

function decodeUtf8(bytes: Buffer, isTruncated: boolean): string | null {
  if (isTruncated) return decode('utf-8', bytes, isTruncated)
  const text = isUtf8(bytes) ? bytes.toString() : null
  return text === null || controlCharacter.test(text) ? null : text
}

function decode(encoding: string, bytes: Buffer, isTruncated: boolean): string | null {
  try {
    const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes, {
      stream: isTruncated,
    })
    return controlCharacter.test(text) ? null : text
  } catch {
    return null
  }
}

/** Rejects charsets in which readable ASCII bytes would decode to other characters and be logged garbled. */
const isTrusted = (encoding: string, bytes: Buffer): boolean =>
  encoding.startsWith('utf-16') ? !/[ -~]{4}/.test(bytes.toString('latin1')) : encoding !== 'iso-2022-jp'
