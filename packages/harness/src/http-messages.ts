// Parses HTTP/1 messages from bytes. The parser is strict where parsers differ: it rejects a message if two
// parsers could disagree about its end or one of its lines.

export type Message = {
  /** The request line or status line. */
  start: string
  headers: [name: string, value: string][]
  body: Buffer
  /** False while the message is incomplete. It stays false if the connection closes early. */
  isWhole: boolean
}
export type MessageKind = {
  type: 'requests' | 'responses'
  /** Whether the connection is closed. Closing the connection ends a response that has no length. */
  isOver?: boolean
  /** Whether the responses are to HEAD requests and therefore have no bodies. */
  isHead?: boolean
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ [\x21-\x7e\x80-\xff]+ HTTP\/1\.1$/
const statusLine = /^HTTP\/1\.1 \d{3} ?[\t\x20-\x7e\x80-\xff]*$/

/** Returns all values of a header. The name must be in lower case. */
export const valuesOf = (message: Message, name: string): string[] =>
  message.headers.filter(([given]) => given.toLowerCase() === name).map(([, value]) => value)

export const statusOf = (message: Message): number => Number(message.start.split(' ')[1])

/** Returns all messages with a complete head. Throws if the bytes are ambiguous or not HTTP. */
export function readMessages(bytes: Buffer, kind: MessageKind): Message[] {
  const messages: Message[] = []
  for (let at = 0; at < bytes.length;) {
    const headEnd = bytes.indexOf('\r\n\r\n', at)
    if (headEnd === -1) break
    const message = readHead(bytes.toString('latin1', at, headEnd), kind)
    const { body, end } = readBody(message, bytes.subarray(headEnd + 4), kind)
    messages.push({ ...message, body, isWhole: end !== null })
    if (end === null) break
    at = headEnd + 4 + end
  }
  return messages
}

function readHead(text: string, { type }: MessageKind): Message {
  const [start = '', ...lines] = text.split('\r\n')
  const isValid = (type === 'requests' ? requestLine : statusLine).test(start)
  if (!isValid) throw new Error(`invalid start line: ${JSON.stringify(start.slice(0, 200))}`)
  const headers = lines.map((line): [string, string] => {
    const [, name = '', value = ''] = /^([^:]*): ?([\t\x20-\x7e\x80-\xff]*)$/.exec(line) ?? []
    if (!token.test(name)) throw new Error(`invalid header: ${JSON.stringify(line.slice(0, 200))}`)
    return [name, value]
  })
  return { start, headers, body: Buffer.alloc(0), isWhole: false }
}

/**
 * Returns the received part of the body, and the offset in `rest` at which the body ends. The offset is null while the
 * body is incomplete.
 */
function readBody(message: Message, rest: Buffer, kind: MessageKind): { body: Buffer; end: number | null } {
  const [lengths, codings] = [valuesOf(message, 'content-length'), valuesOf(message, 'transfer-encoding')]
  if (lengths.length + codings.length > 1)
    throw new Error('more than one Content-Length or Transfer-Encoding header')
  const status = kind.type === 'responses' ? statusOf(message) : 0
  const isBodiless =
    kind.type === 'responses' && (kind.isHead === true || status < 200 || [204, 304].includes(status))
  if (isBodiless) return { body: Buffer.alloc(0), end: 0 }
  if (codings[0] !== undefined) {
    if (codings[0] !== 'chunked') throw new Error(`unknown Transfer-Encoding: ${codings[0]}`)
    return readChunks(rest)
  }
  if (lengths[0] === undefined) {
    if (kind.type === 'requests') return { body: Buffer.alloc(0), end: 0 }
    return { body: rest, end: kind.isOver === true ? rest.length : null }
  }
  if (!/^(?:0|[1-9]\d{0,12})$/.test(lengths[0])) throw new Error(`invalid Content-Length: ${lengths[0]}`)
  const length = Number(lengths[0])
  return { body: rest.subarray(0, length), end: rest.length < length ? null : length }
}

function readChunks(rest: Buffer): { body: Buffer; end: number | null } {
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd === -1) return { body: Buffer.concat(chunks), end: null }
    const line = rest.toString('latin1', at, lineEnd)
    if (!/^[0-9a-fA-F]{1,8}$/.test(line)) throw new Error(`invalid chunk size: ${JSON.stringify(line)}`)
    const [size, start] = [Number.parseInt(line, 16), lineEnd + 2]
    const isComplete = rest.length >= start + size + 2
    chunks.push(rest.subarray(start, start + size))
    if (!isComplete) return { body: Buffer.concat(chunks), end: null }
    // Trailers are not supported: neither the gateway nor the proxy in front of it forwards them.
    if (rest.toString('latin1', start + size, start + size + 2) !== '\r\n')
      throw new Error('chunk data is not followed by CRLF')
    at = start + size + 2
    if (size === 0) return { body: Buffer.concat(chunks), end: at }
  }
}
