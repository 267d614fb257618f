// Requests that two parsers could end at different positions. Each request is followed by, or contains, another
// request.
import {
  type Caller,
  type SmugglingCase,
  chunked,
  crlf,
  inChunks,
  innerOf,
  length5,
  lines,
  malformed,
  post,
  request,
  shown,
} from './smuggling-case.ts'

const hello = inChunks('hello')
const helloThenInner = (caller: Caller): string => `hello${innerOf(caller)}`
const chunksThenInner = (caller: Caller): string => hello + innerOf(caller)
/** To a parser that ignores chunking, these bytes are garbage followed by a request. */
const innerInChunks = (caller: Caller): string => inChunks(innerOf(caller))

const codings: SmugglingCase[] = [
  { name: 'CL.TE', bytes: post(lines(length5, chunked), chunksThenInner), refused: malformed },
  {
    name: 'CL.TE, no length',
    bytes: post(lines('Content-Length: 0', chunked), innerInChunks),
    refused: malformed,
  },
  { name: 'TE.CL', bytes: post(lines(chunked, 'Content-Length: 4'), chunksThenInner), refused: malformed },
  ...[
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding: chunkedx',
    'Transfer-Encoding: identity',
    'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding: chunked, chunked',
    'Transfer-Encoding: chunked,',
    'Transfer-Encoding: chunked;q=1',
    'Transfer-Encoding: "chunked"',
    'Transfer-Encoding: gzip',
    'Transfer-Encoding:',
    'Transfer-Encoding: \u000bchunked',
    'Transfer-Encoding:\u000cchunked',
    'Transfer-Encoding: chunked\u0000',
    'Transfer-Encoding: chunked\t',
    'Transfer-Encoding : chunked',
    'Transfer-Encoding\t: chunked',
    ' Transfer-Encoding: chunked',
    'Transfer-Encoding',
    'X: x\nTransfer-Encoding: chunked',
    'X: x\rTransfer-Encoding: chunked',
    'Transfer-Encoding:\n chunked',
    'Transfer-Encoding:\r\n chunked',
    lines(chunked, chunked),
    lines(chunked, 'Transfer-Encoding: identity'),
  ].map((header) => ({
    name: `TE ${shown(header)}`,
    bytes: post(header, chunksThenInner),
    refused: malformed,
  })),
  ...[
    'Transfer-Encoding:chunked',
    'Transfer-Encoding:\tchunked',
    'Transfer-Encoding:   chunked  ',
    'transfer-encoding: CHUNKED',
    'TRANSFER-ENCODING: Chunked',
  ].map((header) => ({ name: `TE ${shown(header)}`, bytes: post(header, innerInChunks), forwarded: {} })),
]

// Complete requests with a transfer coding that the gateway does not decode.
const unknownCodings: SmugglingCase[] = [
  'Transfer-Encoding: gzip, chunked',
  lines('Transfer-Encoding: identity', chunked),
].map((header) => ({ name: `TE ${shown(header)}`, bytes: post(header, innerInChunks), refused: malformed }))

const lengths: SmugglingCase[] = [
  ...[
    lines(length5, length5),
    lines(length5, 'Content-Length: 6'),
    ...[
      '5, 5',
      '5,6',
      '+5',
      '-5',
      '0x5',
      '5 5',
      '5.0',
      '5e0',
      'five',
      '',
      ' ',
      '\u000b5',
      '5\u0000',
      '5;',
    ].map((length) => `Content-Length: ${length}`),
    'Content-Length : 5',
    ' Content-Length: 5',
    'Content-Length: 18446744073709551621',
    `Content-Length: ${'9'.repeat(60)}`,
    'Content-Length:\r\n 5',
    'X: x\nContent-Length: 5',
  ].map((header) => ({
    name: `CL ${shown(header)}`,
    bytes: post(header, helloThenInner),
    refused: malformed,
  })),
  ...['9007199254740993', '18446744073709551615'].map((length) => ({
    name: `CL ${length}`,
    bytes: post(`Content-Length: ${length}`, helloThenInner),
    refused: [413],
  })),
  ...[
    'Content-Length:5',
    'Content-Length:  5 ',
    'Content-Length:\t5',
    'content-length: 05',
    'CONTENT-LENGTH: 5',
  ].map((header) => ({ name: `CL ${shown(header)}`, bytes: post(header), forwarded: { body: 'hello' } })),
  ...['POST', 'GET', 'DELETE', 'OPTIONS', 'TRACE'].map((method) => ({
    name: `a request hidden in the body of ${method}`,
    bytes: request(
      (path) => `${method} ${path} HTTP/1.1`,
      (caller) => `Content-Length: ${innerOf(caller).length}`,
      innerOf,
    ),
    forwarded: { method },
  })),
  {
    name: 'a request hidden in a chunk',
    bytes: post(chunked, innerInChunks),
    forwarded: {},
  },
]

const chunks: SmugglingCase[] = [
  ...[
    `5;${'a'.repeat(20_000)}${crlf}hello${crlf}0${crlf}${crlf}`,
    `5;a\nhello${crlf}0${crlf}${crlf}`,
    `5;a\rb${crlf}hello${crlf}0${crlf}${crlf}`,
    `fffffffffffffffff${crlf}hello${crlf}0${crlf}${crlf}`,
    `10000000000000005${crlf}hello${crlf}0${crlf}${crlf}`,
    ...['-5', '+5', '0x5', '5 ', ' 5', '5h', '', '5\u0000', '5\u000b'].map(
      (size) => `${size}${crlf}hello${crlf}0${crlf}${crlf}`,
    ),
    '5\nhello\n0\n\n',
    `5${crlf}hello\n0${crlf}${crlf}`,
    `5\rhello${crlf}0${crlf}${crlf}`,
    `4${crlf}hello${crlf}0${crlf}${crlf}`,
    `6${crlf}hello${crlf}0${crlf}${crlf}`,
    `5${crlf}helloXX0${crlf}${crlf}`,
    `5${crlf}hello${crlf}0${crlf}X Y: 1${crlf}${crlf}`,
    `5${crlf}hello${crlf}0${crlf}X: 1\nY: 2${crlf}${crlf}`,
    `5${crlf}hello${crlf}0${crlf}GET /x HTTP/1.1${crlf}${crlf}`,
    `5${crlf}hello${crlf}0${crlf}Transfer-Encoding: chunked${crlf}${crlf}`,
    `5${crlf}hello${crlf}0${crlf}Content-Length: 3${crlf}${crlf}`,
  ].map((body) => ({
    name: `chunks ${shown(body)}`,
    bytes: post(chunked, (caller) => body + innerOf(caller)),
    refused: malformed,
  })),
  ...[
    `5;a=b;c="d e"${crlf}hello${crlf}0;x${crlf}${crlf}`,
    `005${crlf}hello${crlf}000${crlf}${crlf}`,
    `2${crlf}he${crlf}3${crlf}llo${crlf}0${crlf}${crlf}`,
    // Trailers are not forwarded.
    `5${crlf}hello${crlf}0${crlf}Authorization: Bearer other${crlf}Host: other${crlf}X-Trailer: 1${crlf}${crlf}`,
  ].map((body) => ({
    name: `chunks ${shown(body)}`,
    bytes: post(chunked, body),
    forwarded: { body: 'hello' },
  })),
]

export const framingCases: readonly SmugglingCase[] = [...codings, ...unknownCodings, ...lengths, ...chunks]
