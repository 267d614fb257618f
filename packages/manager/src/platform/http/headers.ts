// Reading security-relevant headers: a header that is sent twice is never guessed at.
import type { IncomingMessage } from 'node:http'

/** How often the request carries the header, by its raw lines (Node joins or drops repeats in `headers`). */
function countHeader(request: IncomingMessage, name: string): number {
  let count = 0
  const lines = request.rawHeaders
  for (let i = 0; i < lines.length; i += 2) {
    const line = lines[i] as string
    if (line.length === name.length && line.toLowerCase() === name) count++
  }
  return count
}

/** The value of a header sent exactly once and not empty; `repeated` when sent more often; null when absent. */
export function singleHeader(request: IncomingMessage, name: string): { value: string } | 'repeated' | null {
  const count = countHeader(request, name)
  if (count > 1) return 'repeated'
  const value = request.headers[name]
  return typeof value === 'string' && value !== '' ? { value } : null
}

/** Node reads header bytes as Latin-1; proxies send UTF-8. Bytes that are not UTF-8 stay as they were read. */
export function headerText(value: string): string {
  const bytes = Buffer.from(value, 'latin1')
  const decoded = bytes.toString('utf8')
  return decoded.includes('\ufffd') ? value : decoded
}

/** The Authorization header; null when there is none. Sent more than once it is a text that no scheme accepts. */
export function presentedAuthorization(request: IncomingMessage): string | null {
  const header = singleHeader(request, 'authorization')
  if (header === null) return null
  return header === 'repeated' ? '' : header.value
}
