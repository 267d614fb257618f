// Reads security-relevant headers: a header that is sent twice has no value.
import type { IncomingMessage } from 'node:http'

/** Counts the header in the raw lines of the request, because Node joins or drops repeats in `headers`. */
function countHeader(request: IncomingMessage, name: string): number {
  let count = 0
  const lines = request.rawHeaders
  for (let i = 0; i < lines.length; i += 2) {
    const line = lines[i] as string
    if (line.length === name.length && line.toLowerCase() === name) count++
  }
  return count
}

/** Returns the value of a header sent exactly once and not empty; `repeated` if sent more often; null if absent. */
export function singleHeader(request: IncomingMessage, name: string): { value: string } | 'repeated' | null {
  const count = countHeader(request, name)
  if (count > 1) return 'repeated'
  const value = request.headers[name]
  return typeof value === 'string' && value !== '' ? { value } : null
}

/** Decodes a header as UTF-8: Node reads Latin-1, but proxies send UTF-8. Invalid UTF-8 stays unchanged. */
export function headerText(value: string): string {
  const bytes = Buffer.from(value, 'latin1')
  const decoded = bytes.toString('utf8')
  return decoded.includes('\ufffd') ? value : decoded
}

/** Returns the Authorization header; null if absent. A repeated header returns a text that no scheme accepts. */
export function presentedAuthorization(request: IncomingMessage): string | null {
  const header = singleHeader(request, 'authorization')
  if (header === null) return null
  return header === 'repeated' ? '' : header.value
}
