// Reads HTTP/1 messages out of bytes. It is strict where readers differ: a message whose end two of them could see at
// different places, or with a line that one of them would read in another way, is an error here.

export type Message = {
  /** The request line or status line. */
  start: string
  headers: [name: string, value: string][]
  body: Buffer
  /** False while more of it is to come; for ever so, if the connection is over. */
  isWhole: boolean
}
export type MessageKind = {
  of: 'requests' | 'answers'
  /** Nothing follows any more, which is what ends an answer without a length. */
  isOver?: boolean
  /** The answers are to HEAD, so they have no bodies. */
  isHead?: boolean
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ [\x21-\x7e\x80-\xff]+ HTTP\/1\.1$/
const statusLine = /^HTTP\/1\.1 \d{3} ?[\t\x20-\x7e\x80-\xff]*$/

/** The values of a header, by its name in lower case. */
export const valuesOf = (message: Message, name: string): string[] =>
  message.headers.filter(([given]) => given.toLowerCase() === name).map(([, value]) => value)

/** The status of an answer. */
export const statusOf = (message: Message): number => Number(message.start.split(' ')[1])

/** All messages that have at least their head; throws for bytes that are no HTTP, or ambiguous. */
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

function readHead(text: string, { of }: MessageKind): Message {
  const [start = '', ...lines] = text.split('\r\n')
  const isGood = (of === 'requests' ? requestLine : statusLine).test(start)
  if (!isGood) throw new Error(`no start of a message: ${JSON.stringify(start.slice(0, 200))}`)
  const headers = lines.map((line): [string, string] => {
    const [, name = '', value = ''] = /^([^:]*): ?([\t\x20-\x7e\x80-\xff]*)$/.exec(line) ?? []
    if (!token.test(name)) throw new Error(`no header: ${JSON.stringify(line.slice(0, 200))}`)
    return [name, value]
  })
  return { start, headers, body: Buffer.alloc(0), isWhole: false }
}

/** The body as far as it has come, and where in the rest it ends; null while it has not. */
function readBody(message: Message, rest: Buffer, kind: MessageKind): { body: Buffer; end: number | null } {
  const [lengths, codings] = [valuesOf(message, 'content-length'), valuesOf(message, 'transfer-encoding')]
  if (lengths.length + codings.length > 1) throw new Error('more than one header about the length')
  const status = kind.of === 'answers' ? statusOf(message) : 0
  const isBodiless =
    kind.of === 'answers' && (kind.isHead === true || status < 200 || [204, 304].includes(status))
  if (isBodiless) return { body: Buffer.alloc(0), end: 0 }
  if (codings[0] !== undefined) {
    if (codings[0] !== 'chunked') throw new Error(`an unknown coding: ${codings[0]}`)
    return readChunks(rest)
  }
  if (lengths[0] === undefined) {
    if (kind.of === 'requests') return { body: Buffer.alloc(0), end: 0 }
    return { body: rest, end: kind.isOver === true ? rest.length : null }
  }
  if (!/^(?:0|[1-9]\d{0,12})$/.test(lengths[0])) throw new Error(`no length: ${lengths[0]}`)
  const length = Number(lengths[0])
  return { body: rest.subarray(0, length), end: rest.length < length ? null : length }
}

function readChunks(rest: Buffer): { body: Buffer; end: number | null } {
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd === -1) return { body: Buffer.concat(chunks), end: null }
    const line = rest.toString('latin1', at, lineEnd)
    if (!/^[0-9a-fA-F]{1,8}$/.test(line)) throw new Error(`no size of a chunk: ${JSON.stringify(line)}`)
    const [size, start] = [Number.parseInt(line, 16), lineEnd + 2]
    const isThere = rest.length >= start + size + 2
    chunks.push(rest.subarray(start, start + size))
    if (!isThere) return { body: Buffer.concat(chunks), end: null }
    // No trailers: neither the gateway nor what stands before it passes any on.
    if (rest.toString('latin1', start + size, start + size + 2) !== '\r\n')
      throw new Error('a chunk that does not end where it should')
    at = start + size + 2
    if (size === 0) return { body: Buffer.concat(chunks), end: at }
  }
}
