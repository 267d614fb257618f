// Upstream responses that are not valid HTTP, or that contain more than was requested.
import { gzipSync } from 'node:zlib'
import {
  type BadAnswer,
  chunk,
  chunked,
  head,
  incompleteOrInvalid,
  length,
  ok,
  passes,
  rejected,
  rejectedOrTruncated,
  untilClose,
  write,
} from '@manager/harness/bad-answers.ts'

const hello = `${head(length(5))}hello`
const unreadable = rejected(incompleteOrInvalid)

const starts: BadAnswer[] = [
  ...[
    'garbage\r\n\r\n',
    'SSH-2.0-OpenSSH_9.6\r\n',
    'HTTP/1.1 2000 OK\r\n\r\n',
    'HTTP/1.1 20 OK\r\n\r\n',
    'HTTP/1.1 -20 OK\r\n\r\n',
    'HTTP/1.1 OK\r\n\r\n',
    'HTTP/9.9 200 OK\r\n\r\n',
    'http/1.1 200 OK\r\n\r\n',
    'ICY 200 OK\r\n\r\n',
    '\u0000'.repeat(500),
    'GET / HTTP/1.1\r\nHost: h\r\n\r\n',
    '{"accepted":true}',
    'HTTP/1.1 200 OK\nContent-Length: 5\n\nhello',
  ].map((text) => ({
    name: `a start like ${JSON.stringify(text.slice(0, 30))}`,
    play: write([text]),
    expected: unreadable,
  })),
  {
    name: 'an alert of TLS',
    play: write(['\u0015\u0003\u0001\u0000\u0002\u0002\u0028']),
    expected: rejected('the upstream requires TLS; use https:// or another port'),
  },
  ...['099', '000'].map((status) => ({
    name: `status ${status}`,
    play: write([hello.replace('200', status)]),
    expected: unreadable,
  })),
  {
    name: 'status 999',
    play: write([hello.replace('200 OK', '999 Odd')]),
    expected: passes('hello', {}, 999),
  },
  {
    name: 'status 299 without a reason',
    play: write([hello.replace('200 OK', '299')]),
    expected: passes('hello', {}, 299),
  },
  { name: 'HTTP/1.0', play: write([hello.replace('1.1', '1.0')]), expected: passes('hello') },
  {
    name: 'an interim answer before the answer',
    play: write([`HTTP/1.1 103 Early Hints\r\nLink: </x>\r\nX-Interim: 1\r\n\r\n`, hello]),
    expected: passes('hello', { link: undefined, 'x-interim': undefined }),
  },
  {
    name: 'a reason with a zero byte',
    play: write([hello.replace('OK', 'O\u0000K')]),
    expected: passes('hello'),
  },
  {
    name: 'a thousand interim answers',
    play: write(['HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000) + hello]),
    expected: passes('hello'),
  },
  {
    name: 'an interim answer with a body',
    play: write([`HTTP/1.1 103 Early\r\n${length(5)}\r\n\r\nhello${hello}`]),
    expected: unreadable,
  },
  {
    name: 'another protocol',
    play: write(['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello']),
    expected: unreadable,
  },
  {
    name: 'another protocol, unnamed',
    play: write([`HTTP/1.1 101 Switching Protocols\r\n\r\n${hello}`]),
    expected: unreadable,
  },
]

const framed: BadAnswer[] = [
  head(length(5), chunked) + chunk('hello') + chunk(''),
  head(length(5), length(6)) + 'hello!',
  head(length(5), length(5)) + 'hello',
  head('Content-Length: -5') + 'hello',
  head('Content-Length: +5') + 'hello',
  head('Content-Length: 5, 5') + 'hello',
  head('Content-Length: 0x5') + 'hello',
  head('Content-Length: five') + 'hello',
  head('Content-Length: 99999999999999999999999') + 'hello',
  head('Content-Length : 5') + 'hello',
  head(chunked) + 'hello',
  head(chunked) + '-5\r\nhello\r\n0\r\n\r\n',
  head(chunked) + 'fffffffffffffffff\r\nhello\r\n0\r\n\r\n',
  head(chunked) + '5\r\nhello\r\n0\r\nContent-Length: 9\r\n\r\n',
  head('X: a\rb', length(5)) + 'hello',
  head('X: a\nY: b', length(5)) + 'hello',
  head('X: a\u0000b', length(5)) + 'hello',
  head('X : a', length(5)) + 'hello',
  head('X Y: a', length(5)) + 'hello',
  head(': a', length(5)) + 'hello',
].map((text) => ({
  name: `a head like ${JSON.stringify(text.slice(ok.length, ok.length + 40))}`,
  play: write([text], 'fin'),
  expected: rejectedOrTruncated(/response is incomplete or invalid|length does not match/),
}))

const methods: BadAnswer[] = [
  ...['gzip, chunked', 'identity', 'chunked, chunked', 'x, chunked'].map((coding) => ({
    name: `the transfer coding ${coding}`,
    play: write([head(`Transfer-Encoding: ${coding}`) + chunk('hello') + chunk('')], 'fin'),
    expected: rejected(/unsupported transfer encoding|incomplete or invalid/),
  })),
  {
    name: '204 with a body',
    play: write([`HTTP/1.1 204 No Content\r\n${length(5)}\r\n\r\nhello`]),
    expected: passes('', { 'content-length': undefined }, 204),
  },
  {
    name: '204 in chunks',
    play: write([`HTTP/1.1 204 No Content\r\n${chunked}\r\n\r\n${chunk('hello')}${chunk('')}`]),
    expected: passes('', {}, 204),
  },
  {
    name: '304 with a body',
    play: write([`HTTP/1.1 304 Not Modified\r\n${length(5)}\r\n\r\nhello`]),
    expected: passes('', {}, 304),
  },
  {
    name: 'HEAD with a body',
    method: 'HEAD',
    play: write([hello]),
    expected: passes('', { 'content-length': '5' }),
  },
  {
    name: 'HEAD in chunks',
    method: 'HEAD',
    play: write([head(chunked) + chunk('hello') + chunk('')]),
    expected: passes(''),
  },
  {
    name: '205 with a body',
    play: write([`HTTP/1.1 205 Reset Content\r\n${length(5)}\r\n\r\nhello`]),
    expected: passes('hello', {}, 205),
  },
]

const bomb = gzipSync(Buffer.alloc(10 * 1_048_576)).toString('latin1')
const gzipBomb: BadAnswer = {
  name: 'ten megabytes of zeros, compressed',
  play: write([head(length(bomb.length), 'Content-Encoding: gzip', 'Content-Type: text/plain') + bomb]),
  expected: passes(bomb, { 'content-encoding': 'gzip' }),
}

const whole: BadAnswer[] = [
  gzipBomb,
  { name: 'more bytes than announced', play: write([`${hello} world`]), expected: passes('hello') },
  {
    name: 'two answers at once',
    play: write([hello + hello.replaceAll('hello', 'other')]),
    expected: passes('hello'),
  },
  {
    name: 'chunks with extensions and trailers',
    play: write([
      `${head(chunked, 'Trailer: X-T')}5;a="b"\r\nhello\r\n0\r\nX-T: 1\r\nSet-Cookie: a=b\r\n\r\n`,
    ]),
    expected: passes('hello', { 'x-t': undefined, trailer: undefined, 'set-cookie': undefined }),
  },
  {
    name: 'a chunk for every byte',
    play: write([head(chunked) + chunk('a').repeat(20_000) + chunk('')]),
    expected: passes('a'.repeat(20_000)),
  },
  {
    name: 'a redirect to a metadata service',
    play: write([`HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\n${length(0)}\r\n\r\n`]),
    expected: passes('', { location: 'http://169.254.169.254/latest' }, 302),
  },
  {
    name: 'Connection: close and keep-alive',
    play: write([
      `${head(length(5), 'Connection: close, keep-alive', 'Connection: keep-alive', 'Keep-Alive: timeout=600')}hello`,
    ]),
    expected: passes('hello', { 'keep-alive': 'timeout=72' }),
  },
  {
    name: 'headers named in Connection',
    play: write([`${head(length(5), 'Connection: X-Own, content-length', 'X-Own: 1', 'X-Kept: 2')}hello`]),
    expected: passes('hello', { 'x-own': undefined, 'x-kept': '2' }),
  },
  {
    name: 'bytes beyond ASCII',
    play: write([
      `${head(length(5), 'X-Latin: \u00e9', 'X-Utf8: \u00e6\u0097\u00a5', 'X-High: \u0080\u00ff')}hello`,
    ]),
    expected: passes('hello', {
      'x-latin': '\u00e9',
      'x-utf8': '\u00e6\u0097\u00a5',
      'x-high': '\u0080\u00ff',
    }),
  },
  {
    name: 'bytes beyond ASCII in chunks',
    play: write([
      `${head(chunked, 'X-Latin: \u00e9', 'X-Utf8: \u00e6\u0097\u00a5')}${chunk('hello')}`,
      chunk(''),
    ]),
    expected: passes('hello', { 'x-latin': '\u00e9' }),
  },
  {
    name: 'our own headers',
    play: write([
      `${head(length(5), 'X-Request-Id: theirs', 'Proxy-Authenticate: Basic', '__proto__: a', 'constructor: b', 'toString: c')}hello`,
    ]),
    expected: passes('hello', { 'proxy-authenticate': undefined, constructor: 'b', tostring: 'c' }),
  },
  {
    name: 'a folded header',
    play: write([`${head(length(5), 'X-Fold: a\r\n b')}hello`]),
    expected: rejectedOrTruncated(/response is incomplete or invalid|length does not match/),
  },
  {
    name: 'encoded line ends',
    play: write([`${head(length(5), 'X-Line: a%0d%0aSet-Cookie: b')}hello`]),
    expected: passes('hello', { 'set-cookie': undefined }),
  },
  {
    name: 'a body until the end of HTTP/1.0',
    play: write([`${untilClose.replace('1.1', '1.0')}hello`], 'fin'),
    expected: passes('hello'),
  },
]

export const oddAnswers: readonly BadAnswer[] = [...starts, ...framed, ...methods, ...whole]
