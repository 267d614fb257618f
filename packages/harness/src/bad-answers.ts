// Describes bad upstream responses: the bytes that the upstream writes, and the outcome that the caller must see. The
// lists here contain responses that are too slow, too large or incomplete.
import type { Play } from './raw-upstream.ts'

/** The outcome that the caller must see. */
export type Expected =
  /** The caller receives 502 or, if part of the response was already sent, a truncated response. */
  | { failure: string | RegExp; isCut: boolean | 'either' }
  /** The response is forwarded. Strings are Latin-1, and a header whose value is undefined must be absent. */
  | { status: number; body: string; headers?: Record<string, string | undefined> }
export type BadAnswer = { name: string; method?: string; play: Play; expected: Expected }

export const maxResponseBytes = 65_536
const intervalMs = 40

/** Writes each part in a separate packet, then keeps the connection open, closes it or resets it. */
export const write =
  (parts: readonly string[], end: 'stay' | 'fin' | 'reset' = 'stay'): Play =>
  (socket) => {
    const left = [...parts]
    const next = (): void => {
      const part = left.shift()
      if (part !== undefined) socket.write(part, 'latin1', () => setTimeout(next, intervalMs))
      else if (end === 'fin') socket.end()
      else if (end === 'reset') socket.resetAndDestroy()
    }
    next()
  }

/** Writes the beginning, then writes `drop` every 40 ms until the connection closes. */
const drip =
  (beginning: string, drop: string): Play =>
  (socket) => {
    socket.write(beginning)
    const timer = setInterval(() => socket.write(drop), intervalMs)
    socket.once('close', () => clearInterval(timer))
  }

export const ok = 'HTTP/1.1 200 OK\r\n'
export const head = (...headers: string[]): string =>
  `${[ok + headers[0], ...headers.slice(1)].join('\r\n')}\r\n\r\n`
export const length = (bytes: number): string => `Content-Length: ${bytes}`
export const chunked = 'Transfer-Encoding: chunked'
export const untilClose = `${ok}X-Framed: by the end\r\n\r\n`
export const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
export const passes = (
  body: string,
  headers: Record<string, string | undefined> = {},
  status = 200,
): Expected => ({
  status,
  body,
  headers,
})

const timedOut = 'the upstream timed out'
const tooLarge = 'the upstream response is too large'
export const incompleteOrInvalid = 'the upstream response is incomplete or invalid'
export const rejected = (failure: string | RegExp): Expected => ({ failure, isCut: false })
const truncated = (failure: string): Expected => ({ failure, isCut: true })
export const rejectedOrTruncated = (failure: string | RegExp): Expected => ({ failure, isCut: 'either' })

export const slowAnswers: readonly BadAnswer[] = [
  { name: 'silence', play: () => undefined, expected: rejected(timedOut) },
  { name: 'half a status line', play: write(['HTTP/1.1 20']), expected: rejected(timedOut) },
  {
    name: 'headers that come a byte at a time',
    play: drip(`${ok}X-Slow: `, 'a'),
    expected: rejected(timedOut),
  },
  { name: 'headers one after the other', play: drip(ok, 'X: a\r\n'), expected: rejected(timedOut) },
  {
    name: 'interim answers for ever',
    play: drip('', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    expected: rejected(timedOut),
  },
  { name: 'a head, and then nothing', play: write([head(length(5))]), expected: rejected(timedOut) },
  {
    name: 'a body that comes a byte at a time',
    play: drip(head(length(5_000)), 'a'),
    expected: truncated(timedOut),
  },
  { name: 'chunks without end', play: drip(head(chunked), chunk('a')), expected: truncated(timedOut) },
  {
    name: 'a body until the end that does not come',
    play: drip(untilClose, 'a'),
    expected: truncated(timedOut),
  },
  { name: 'all but the last byte', play: write([head(length(5)), 'hell']), expected: truncated(timedOut) },
  {
    name: 'all but the last chunk',
    play: write([head(chunked), chunk('hello')]),
    expected: truncated(timedOut),
  },
]

const over = 'a'.repeat(maxResponseBytes + 1)
const exactly = over.slice(1)
export const largeAnswers: readonly BadAnswer[] = [
  {
    name: 'interim answers as fast as they can be read',
    play: write(['HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_001)]),
    expected: rejected('the upstream sent too many interim responses'),
  },
  {
    name: 'one byte over the limit with Content-Length',
    play: write([head(length(over.length)) + over]),
    expected: rejected(tooLarge),
  },
  {
    name: 'Content-Length far over the limit',
    play: write([head(length(1e15))]),
    expected: rejected(tooLarge),
  },
  {
    name: 'one byte over the limit in a chunk',
    play: write([head(chunked) + chunk(over) + chunk('')]),
    expected: rejectedOrTruncated(tooLarge),
  },
  {
    name: 'one byte over the limit in the last chunk',
    play: write([head(chunked) + chunk(exactly), chunk('b') + chunk('')]),
    expected: truncated(tooLarge),
  },
  {
    name: 'one byte over the limit until the connection closes',
    play: write([untilClose + exactly, 'b'], 'fin'),
    expected: truncated(tooLarge),
  },
  {
    name: 'exactly the limit with Content-Length',
    play: write([head(length(exactly.length)) + exactly]),
    expected: passes(exactly),
  },
  {
    name: 'exactly the limit in chunks',
    play: write([head(chunked) + chunk(exactly), chunk('')]),
    expected: passes(exactly),
  },
  {
    name: 'exactly the limit until the connection closes',
    play: write([untilClose + exactly], 'fin'),
    expected: passes(exactly),
  },
  {
    name: 'headers of a megabyte',
    play: write([ok + 'X-Many: aaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(30_000)]),
    expected: rejected('the upstream response headers are too large'),
  },
  {
    name: 'a header of a megabyte',
    play: write([`${ok}X-Long: ${'a'.repeat(1_048_576)}`]),
    expected: rejected('the upstream response headers are too large'),
  },
]

export const brokenAnswers: readonly BadAnswer[] = [
  { name: 'an end before the head', play: write([], 'fin'), expected: rejected(incompleteOrInvalid) },
  { name: 'a reset before the head', play: write([], 'reset'), expected: rejected(incompleteOrInvalid) },
  {
    name: 'a reset in the head',
    play: write([`${ok}X: `], 'reset'),
    expected: rejected(incompleteOrInvalid),
  },
  { name: 'an end in the head', play: write([`${ok}X: `], 'fin'), expected: rejected(incompleteOrInvalid) },
  {
    name: 'an end after the head',
    play: write([head(length(5))], 'fin'),
    expected: rejected(incompleteOrInvalid),
  },
  {
    name: 'an end before the announced length',
    play: write([head(length(10)) + 'hello'], 'fin'),
    expected: truncated(incompleteOrInvalid),
  },
  {
    name: 'a reset before the announced length',
    play: write([head(length(10)) + 'hello'], 'reset'),
    expected: truncated(incompleteOrInvalid),
  },
  {
    name: 'an end between chunks',
    play: write([head(chunked) + chunk('hello')], 'fin'),
    expected: truncated(incompleteOrInvalid),
  },
  {
    name: 'an end in a chunk',
    play: write([`${head(chunked)}a\r\nhello`], 'fin'),
    expected: truncated(incompleteOrInvalid),
  },
  {
    name: 'a reset between chunks',
    play: write([head(chunked) + chunk('hello')], 'reset'),
    expected: truncated(incompleteOrInvalid),
  },
  {
    name: 'an end in the last chunk',
    play: write([`${head(chunked) + chunk('hello')}0\r\n`], 'fin'),
    expected: truncated(incompleteOrInvalid),
  },
  {
    name: 'a reset instead of the end',
    play: write([`${untilClose}hello`], 'reset'),
    expected: truncated(incompleteOrInvalid),
  },
  {
    name: 'the end that ends the body',
    play: write([`${untilClose}hello`], 'fin'),
    expected: passes('hello'),
  },
  { name: 'a head and the end', play: write([untilClose], 'fin'), expected: passes('') },
  { name: 'no chunk at all', play: write([head(chunked) + chunk('')]), expected: passes('') },
]
