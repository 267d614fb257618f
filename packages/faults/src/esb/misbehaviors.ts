// The ways in which an upstream misbehaves, each with the outcomes that the caller may see.
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { chunk, chunked, head, length, ok, write } from '@manager/harness/bad-answers.ts'
import type { Play } from '@manager/harness/raw-upstream.ts'

export type Misbehavior = {
  name: string
  play: Play
  /** SHA-256 of the body that the caller receives with 200. Null if the call must fail. */
  passes: string | null
  /** Whether the call may also fail, because the HTTP client rejects a response that the RFC allows. */
  mayFail?: true
}

const dripMs = 50
const maxBodyBytes = 10 * 1_048_576
const bombBytes = 64 * 1_048_576

const hashOf = (body: Buffer | string): string => createHash('sha256').update(body).digest('hex')
const textHash = (text: string): string => hashOf(Buffer.from(text, 'latin1'))

/** Writes the beginning, then `drop` every 50 ms until the connection closes. */
const drip =
  (beginning: string, drop: string): Play =>
  (socket) => {
    socket.write(beginning)
    const timer = setInterval(() => socket.write(drop), dripMs)
    socket.once('close', () => clearInterval(timer))
  }

const over = Buffer.alloc(maxBodyBytes + 1, 'a')
/** Writes everything without a pause. */
const bytes =
  (beginning: string, body: Buffer, end = ''): Play =>
  (socket) => {
    socket.write(beginning, 'latin1')
    socket.write(body)
    if (end !== '') socket.write(end, 'latin1')
  }
const bomb = gzipSync(Buffer.alloc(bombBytes), { level: 9 })

/** `?case=<number>` is an index into this list. */
export const misbehaviors: readonly Misbehavior[] = [
  { name: 'silence', play: () => undefined, passes: null },
  { name: 'a head that drips', play: drip(`${ok}X-Slow: `, 'a'), passes: null },
  { name: 'a body that drips', play: drip(head(length(5_000)), 'a'), passes: null },
  {
    name: '10 MiB and one byte with Content-Length',
    play: bytes(head(length(over.length)), over),
    passes: null,
  },
  {
    name: '10 MiB and one byte in chunks',
    play: bytes(`${head(chunked)}${over.length.toString(16)}\r\n`, over, '\r\n0\r\n\r\n'),
    passes: null,
  },
  { name: 'less than Content-Length', play: write([`${head(length(10))}hello`], 'fin'), passes: null },
  { name: 'two Content-Length headers', play: write([`${head(length(5), length(6))}hello!`]), passes: null },
  { name: 'a reset in the body', play: write([`${head(length(10))}hello`], 'reset'), passes: null },
  { name: 'a reset between chunks', play: write([head(chunked) + chunk('hello')], 'reset'), passes: null },
  {
    name: 'a gzip bomb',
    play: bytes(head('Content-Encoding: gzip', length(bomb.length)), bomb),
    passes: hashOf(bomb),
  },
  {
    name: '100-continue before the response',
    play: write(['HTTP/1.1 100 Continue\r\n\r\n', `${head(length(5))}hello`]),
    passes: textHash('hello'),
    // undici closes the connection after an unsolicited 100 response.
    mayFail: true,
  },
  {
    name: 'trailers',
    play: write([`${head(chunked, 'Trailer: X-Sum')}${chunk('hello')}0\r\nX-Sum: 5\r\n\r\n`]),
    passes: textHash('hello'),
  },
]
