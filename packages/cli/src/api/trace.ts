// Shows every request and response of a connection on standard error, with secrets hidden.
import type { Connection } from '@manager/client'
import { escapeLines } from '../printable.ts'
import type { Terminal } from '../terminal.ts'
import type { Masking } from './masking.ts'

const maxShownBytes = 1_048_576

/** Returns a connection that shows its requests and responses, including retries. */
export function traceConnection(
  { stderr }: Pick<Terminal, 'stderr'>,
  connection: Connection,
  masking: Masking,
): Connection {
  const show = (mark: '>' | '<', text: string): void => {
    for (const line of text.split('\n')) stderr.write(`${mark} ${escapeLines(line)}\n`)
  }
  const showHeaders = (mark: '>' | '<', headers: Headers): void => {
    for (const [name, value] of headers) show(mark, `${name}: ${masking.header(name, value)}`)
  }
  const tracedFetch: typeof fetch = async (address, init = {}) => {
    const url = new URL(address instanceof Request ? address.url : address)
    show('>', `${init.method ?? 'GET'} ${url.origin}${masking.path(url.pathname + url.search)}`)
    showHeaders('>', new Headers(init.headers))
    if (init.body !== undefined && init.body !== null) show('>', describeBody(init.body, masking))
    const response = await connection.fetch(address, init)
    show('<', `${response.status} ${response.statusText}`.trim())
    showHeaders('<', response.headers)
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    if (isJson) show('<', masking.body(await readStart(response.clone())))
    return response
  }
  return { ...connection, fetch: tracedFetch }
}

const describeBody = (body: BodyInit, masking: Masking): string =>
  typeof body === 'string' ? masking.body(body) : '(a form or a file)'

/** Returns the text of a body, or a remark if it is too large. */
async function readStart(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const reader = response.body?.getReader()
  for (;;) {
    const part = await reader?.read()
    if (part === undefined || part.done) return Buffer.concat(chunks).toString('utf8')
    bytes += part.value.length
    if (bytes > maxShownBytes) {
      void reader?.cancel()
      return `(more than ${maxShownBytes} bytes)`
    }
    chunks.push(part.value)
  }
}
