// Parses values of the Authorization header, from any source.

/** A parsed header value; the scheme is in lower case. */
export type Authorization = { scheme: string; value: string }

const maxLength = 8_192

/** Parses `<scheme> <value>`; returns null if the text has a different form. */
export function parseAuthorization(text: string): Authorization | null {
  if (text.length > maxLength) return null
  const [, scheme, value] = /^([A-Za-z]+) +([\x21-\x7e]+)$/.exec(text.trim()) ?? []
  return scheme === undefined || value === undefined ? null : { scheme: scheme.toLowerCase(), value }
}

/** Whether a Basic header can carry the text: RFC 7617 allows no control characters. */
export const fitsBasicHeader = (text: string): boolean => !/[\p{Cc}\ufffd]/u.test(text)

/** Parses the user name and password of a Basic value (RFC 7617); returns null if it is malformed. */
export function parseBasic(value: string): { username: string; password: string } | null {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return null
  const text = Buffer.from(value, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  // PostgreSQL rejects U+0000 even in query parameters.
  if (colon < 1 || !fitsBasicHeader(text)) return null
  return { username: text.slice(0, colon), password: text.slice(colon + 1) }
}
