// How bad answers are written down: each as the bytes that an upstream writes, with what the caller gets for it; and those
// that are bad in time, size or their end.
import type { Play } from './raw-upstream.ts'

/** What becomes of a call. */
export type Expected =
  /** The caller is told 502; or, when they have a part of the answer, they see that the rest is missing. */
  | { failure: string | RegExp; isCut: boolean | 'either' }
  /** It passes; texts are Latin-1, and a header that is undefined is not there. */
  | { status: number; body: string; headers?: Record<string, string | undefined> }
export type BadAnswer = { name: string; method?: string; play: Play; expected: Expected }

export const maxResponseBytes = 65_536
const everyMs = 40

/** Writes the parts one after the other, each in a packet of its own, and ends as told. */
export const write =
  (parts: readonly string[], end: 'stay' | 'fin' | 'reset' = 'stay'): Play =>
  (socket) => {
    const left = [...parts]
    const next = (): void => {
      const part = left.shift()
      if (part !== undefined) socket.write(part, 'latin1', () => setTimeout(next, everyMs))
      else if (end === 'fin') socket.end()
      else if (end === 'reset') socket.resetAndDestroy()
    }
    next()
  }

/** Writes the beginning, and then a little now and then, for ever. */
const drip =
  (beginning: string, drop: string): Play =>
  (socket) => {
    socket.write(beginning)
    const timer = setInterval(() => socket.write(drop), everyMs)
    socket.once('close', () => clearInterval(timer))
  }

export const ok = 'HTTP/1.1 200 OK\r\n'
export const head = (...headers: string[]): string =>
  `${[ok + headers[0], ...headers.slice(1)].join('\r\n')}\r\n\r\n`
export const length = (bytes: number): string => `Content-Length: ${bytes}`
export const chunked = 'Transfer-Encoding: chunked'
export const untilEnd = `${ok}X-Framed: by the end\r\n\r\n`
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

const tookTooLong = 'the upstream took too long'
const tooLarge = 'the upstream answer is too large'
export const brokenOff = 'the upstream ended its response early'
export const told = (failure: string | RegExp): Expected => ({ failure, isCut: false })
const cut = (failure: string): Expected => ({ failure, isCut: true })
export const either = (failure: string | RegExp): Expected => ({ failure, isCut: 'either' })

export const slowAnswers: readonly BadAnswer[] = [
  { name: 'silence', play: () => undefined, expected: told(tookTooLong) },
  { name: 'half a status line', play: write(['HTTP/1.1 20']), expected: told(tookTooLong) },
  {
    name: 'headers that come a byte at a time',
    play: drip(`${ok}X-Slow: `, 'a'),
    expected: told(tookTooLong),
  },
  { name: 'headers one after the other', play: drip(ok, 'X: a\r\n'), expected: told(tookTooLong) },
  {
    name: 'interim answers for ever',
    play: drip('', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    expected: told(tookTooLong),
  },
  { name: 'a head, and then nothing', play: write([head(length(5))]), expected: told(tookTooLong) },
  {
    name: 'a body that comes a byte at a time',
    play: drip(head(length(5_000)), 'a'),
    expected: cut(tookTooLong),
  },
  { name: 'chunks without end', play: drip(head(chunked), chunk('a')), expected: cut(tookTooLong) },
  { name: 'a body until the end that does not come', play: drip(untilEnd, 'a'), expected: cut(tookTooLong) },
  { name: 'all but the last byte', play: write([head(length(5)), 'hell']), expected: cut(tookTooLong) },
  {
    name: 'all but the last chunk',
    play: write([head(chunked), chunk('hello')]),
    expected: cut(tookTooLong),
  },
]

const over = 'a'.repeat(maxResponseBytes + 1)
const exactly = over.slice(1)
export const largeAnswers: readonly BadAnswer[] = [
  {
    name: 'interim answers as fast as they can be read',
    play: write(['HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_001)]),
    expected: told('the upstream sends interim answers without end'),
  },
  {
    name: 'a byte too many, announced',
    play: write([head(length(over.length)) + over]),
    expected: told(tooLarge),
  },
  { name: 'far too many, announced', play: write([head(length(1e15))]), expected: told(tooLarge) },
  {
    name: 'a byte too many in a chunk',
    play: write([head(chunked) + chunk(over) + chunk('')]),
    expected: either(tooLarge),
  },
  {
    name: 'a byte too many at last',
    play: write([head(chunked) + chunk(exactly), chunk('b') + chunk('')]),
    expected: cut(tooLarge),
  },
  {
    name: 'a byte too many until the end',
    play: write([untilEnd + exactly, 'b'], 'fin'),
    expected: cut(tooLarge),
  },
  {
    name: 'as many as may be, announced',
    play: write([head(length(exactly.length)) + exactly]),
    expected: passes(exactly),
  },
  {
    name: 'as many as may be in chunks',
    play: write([head(chunked) + chunk(exactly), chunk('')]),
    expected: passes(exactly),
  },
  {
    name: 'as many as may be until the end',
    play: write([untilEnd + exactly], 'fin'),
    expected: passes(exactly),
  },
  {
    name: 'headers of a megabyte',
    play: write([ok + 'X-Many: aaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(30_000)]),
    expected: told('the headers of the upstream answer are too large'),
  },
  {
    name: 'a header of a megabyte',
    play: write([`${ok}X-Long: ${'a'.repeat(1_048_576)}`]),
    expected: told('the headers of the upstream answer are too large'),
  },
]

export const brokenAnswers: readonly BadAnswer[] = [
  { name: 'an end before the head', play: write([], 'fin'), expected: told(brokenOff) },
  { name: 'a reset before the head', play: write([], 'reset'), expected: told(brokenOff) },
  { name: 'a reset in the head', play: write([`${ok}X: `], 'reset'), expected: told(brokenOff) },
  { name: 'an end in the head', play: write([`${ok}X: `], 'fin'), expected: told(brokenOff) },
  { name: 'an end after the head', play: write([head(length(5))], 'fin'), expected: told(brokenOff) },
  {
    name: 'an end before the announced length',
    play: write([head(length(10)) + 'hello'], 'fin'),
    expected: cut(brokenOff),
  },
  {
    name: 'a reset before the announced length',
    play: write([head(length(10)) + 'hello'], 'reset'),
    expected: cut(brokenOff),
  },
  {
    name: 'an end between chunks',
    play: write([head(chunked) + chunk('hello')], 'fin'),
    expected: cut(brokenOff),
  },
  { name: 'an end in a chunk', play: write([`${head(chunked)}a\r\nhello`], 'fin'), expected: cut(brokenOff) },
  {
    name: 'a reset between chunks',
    play: write([head(chunked) + chunk('hello')], 'reset'),
    expected: cut(brokenOff),
  },
  {
    name: 'an end in the last chunk',
    play: write([`${head(chunked) + chunk('hello')}0\r\n`], 'fin'),
    expected: cut(brokenOff),
  },
  {
    name: 'a reset instead of the end',
    play: write([`${untilEnd}hello`], 'reset'),
    expected: cut(brokenOff),
  },
  { name: 'the end that ends the body', play: write([`${untilEnd}hello`], 'fin'), expected: passes('hello') },
  { name: 'a head and the end', play: write([untilEnd], 'fin'), expected: passes('') },
  { name: 'no chunk at all', play: write([head(chunked) + chunk('')]), expected: passes('') },
]
