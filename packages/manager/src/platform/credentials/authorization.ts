// The Authorization header, wherever it comes from.

export type Authorization = { scheme: string; value: string }

const maxLength = 8_192

/** Scheme (in lower case) and value of `<scheme> <value>`, or null when the text has another form. */
export function parseAuthorization(text: string): Authorization | null {
  if (text.length > maxLength) return null
  const [, scheme, value] = /^([A-Za-z]+) +([\x21-\x7e]+)$/.exec(text.trim()) ?? []
  return scheme === undefined || value === undefined ? null : { scheme: scheme.toLowerCase(), value }
}

/** True for what a Basic header can carry: RFC 7617 allows no control characters. */
export const fitsBasic = (text: string): boolean => !/[\p{Cc}\ufffd]/u.test(text)

/** User name and password of a Basic value (RFC 7617), or null when it is not one. */
export function parseBasic(value: string): { username: string; password: string } | null {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return null
  const text = Buffer.from(value, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  // The database cannot even be asked about U+0000.
  if (colon < 1 || !fitsBasic(text)) return null
  return { username: text.slice(0, colon), password: text.slice(colon + 1) }
}
