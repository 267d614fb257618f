// Reads security-relevant headers. The value of a header that is sent more than once is never used.
import type { IncomingMessage } from 'node:http'

/**
 * Counts how often the header occurs in the raw lines of the request, because Node joins or drops repeats in
 * `headers`.
 */
function countHeader(request: IncomingMessage, name: string): number {
  let count = 0
  const lines = request.rawHeaders
  for (let i = 0; i < lines.length; i += 2) {
    const line = lines[i] as string
    if (line.length === name.length && line.toLowerCase() === name) count++
  }
  return count
}

/**
 * Returns the value of a header that is sent once. Returns `repeated` if the header is sent more than once,
 * or null if it is absent or empty.
 */
export function readSingleHeader(
  request: IncomingMessage,
  name: string,
): { value: string } | 'repeated' | null {
  const count = countHeader(request, name)
  if (count > 1) return 'repeated'
  const value = request.headers[name]
  return typeof value === 'string' && value !== '' ? { value } : null
}

/** Decodes a header as UTF-8: Node reads Latin-1, but proxies send UTF-8. Invalid UTF-8 stays unchanged. */
export function decodeHeader(value: string): string {
  const bytes = Buffer.from(value, 'latin1')
  const text = bytes.toString('utf8')
  return text.includes('\ufffd') ? value : text
}

/**
 * Returns the Authorization header, or null if it is absent. For a repeated header, returns an empty string,
 * which no scheme accepts.
 */
export function readAuthorization(request: IncomingMessage): string | null {
  const header = readSingleHeader(request, 'authorization')
  if (header === null) return null
  return header === 'repeated' ? '' : header.value
}
