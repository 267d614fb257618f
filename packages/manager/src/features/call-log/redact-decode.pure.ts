// This file decodes the bytes of a body to text.
import { isUtf8 } from 'node:buffer'

const charset = /;\s*charset\s*=\s*"?'?([^\s"';]+)/i
const xmlEncoding = /^(?:\xef\xbb\xbf)?\s*<\?xml[^>]{1,100}?encoding\s*=\s*["']([^"']{1,40})/
// Text contains no control characters except tabs, line breaks and the separator between JSON texts (RFC 7464).
// oxlint-disable-next-line no-control-regex -- the pattern detects control characters
const control = /[\x00-\x08\x0b\x0e-\x1d\x1f]/

const percentEscapes = /(?:%[0-9a-f]{2})+/gi

/**
 * Decodes `%` escapes. It does not throw on malformed escapes, because an exception would cost more than decoding the
 * text.
 */
export const percentDecoded = (text: string): string =>
  text.includes('%')
    ? text.replaceAll(percentEscapes, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString())
    : text

/**
 * Decodes the bytes, whose last character can be truncated. Returns null if they are not text or the charset is
 * unknown.
 */
export function decodeText(bytes: Buffer, contentType: string | null, isTruncated: boolean): string | null {
  const inType = charset.exec(contentType ?? '')
  const [, declared] = inType ?? xmlEncoding.exec(bytes.toString('latin1', 0, 256)) ?? []
  try {
    const encoding = declared === undefined ? 'utf-8' : new TextDecoder(declared).encoding
    // Valid UTF-8 is decoded as UTF-8 even if another charset is declared. In that charset, no sensitive name would be
    // recognized.
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
  return text === null || control.test(text) ? null : text
}

function decode(encoding: string, bytes: Buffer, isTruncated: boolean): string | null {
  try {
    const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes, {
      stream: isTruncated,
    })
    return control.test(text) ? null : text
  } catch {
    return null
  }
}

/** Rejects a charset in which readable ASCII bytes would decode to different characters and be shown garbled. */
const isTrusted = (encoding: string, bytes: Buffer): boolean =>
  encoding.startsWith('utf-16') ? !/[ -~]{4}/.test(bytes.toString('latin1')) : encoding !== 'iso-2022-jp'
