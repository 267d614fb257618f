// Requests with unusual heads: lines, targets, connection headers and versions.
import {
  type Caller,
  type SmugglingCase,
  chunked,
  crlf,
  get,
  inChunks,
  innerOf,
  length5,
  lines,
  malformed,
  post,
  request,
  shown,
} from './smuggling-case.ts'

const unknown = [404]
// The gate in front of all other routes rejects targets outside /esb.
const gate = [401]
const tooLarge = [431]

const heads: SmugglingCase[] = [
  ...[
    lines('X-Fold: a', ' b'),
    lines('X-Fold: a', '\tTransfer-Encoding: chunked'),
    lines('X-Fold: a', ' '),
    'X: a\nY: b',
    'X: a\rb',
    'X: a\r',
    'X: a\u0000b',
    'X: a\u0001b',
    'X: a\u007fb',
    'X\u0000: a',
    'X : a',
    'X\t: a',
    ': a',
    'X',
    'X(): a',
    'X\u00e9: a',
  ].map((header) => ({
    name: `header ${shown(header)}`,
    bytes: post(lines(header, length5), (caller) => `hello${innerOf(caller)}`),
    refused: malformed,
  })),
  {
    name: 'lines that end with LF',
    bytes: (caller) => post(length5)(caller).replaceAll(crlf, '\n'),
    refused: malformed,
  },
  {
    name: 'lines that end with CR',
    bytes: (caller) => post(length5)(caller).replaceAll(crlf, '\r'),
    refused: malformed,
  },
  {
    name: 'a head that ends with LF',
    bytes: (caller) => post(length5)(caller).replace(crlf + crlf, `${crlf}\n`),
    refused: malformed,
  },
  {
    name: 'empty lines before',
    bytes: (caller) => crlf + crlf + post(length5)(caller),
    forwarded: { body: 'hello' },
  },
  {
    name: 'Latin-1 in a value',
    bytes: post(lines('X-Value: \u00e9\u00ff', length5)),
    forwarded: { body: 'hello', passes: { 'x-value': '\u00e9\u00ff' } },
  },
  {
    name: 'a header of 20,000 bytes',
    bytes: post(lines(`X: ${'x'.repeat(20_000)}`, length5)),
    refused: tooLarge,
  },
  {
    name: '9,000 headers',
    bytes: post(lines(...Array.from({ length: 9_000 }, () => 'a:'), length5)),
    refused: tooLarge,
  },
  {
    name: 'two of Host, and one of another service',
    bytes: (caller) => post(lines('Host: 169.254.169.254', length5))(caller),
    forwarded: { body: 'hello' },
  },
  {
    name: 'no Host',
    bytes: (caller) => get((path) => path)(caller).replace(`Host: h${crlf}`, ''),
    refused: malformed,
  },
  // Two Authorization headers count as a wrong credential and are rejected.
  { name: 'two of Authorization', bytes: post(lines('Authorization: Bearer x', length5)), refused: [401] },
]

const at = (change: (path: string) => string, refused: readonly number[]): SmugglingCase => ({
  name: `target ${shown(change('/esb/<id>/e1'))}`,
  bytes: get(change),
  refused,
})
const withQuery = (query: string): SmugglingCase => ({
  name: `query ${shown(query)}`,
  bytes: get((path) => path + query),
  forwarded: { body: '', query: query === '?' ? '' : query },
})
/** Splits the path before the endpoint name. */
const cut = (path: string): [string, string] => [
  path.slice(0, path.lastIndexOf('/')),
  path.slice(path.lastIndexOf('/')),
]
const between = (text: string) => at((path) => cut(path).join(text), unknown)

const targets: SmugglingCase[] = [
  at((path) => `http://h${path}`, unknown),
  at((path) => `http://169.254.169.254${path}`, unknown),
  at((path) => `https://user@h${path}`, unknown),
  at((path) => `ftp://h${path}`, gate),
  at((path) => `http:${path}`, malformed),
  at(() => 'h:80', malformed),
  at(() => '*', gate),
  at(() => '', malformed),
  at((path) => `/${path}`, gate),
  at((path) => `//h${path}`, gate),
  at((path) => path.replace('/esb/', '/esb//'), unknown),
  at((path) => path.replace('/esb/', '/esb/./'), unknown),
  at((path) => path.replace('/esb/', '/x/../esb/'), gate),
  at((path) => path.replace('/esb/', '/ESB/'), gate),
  at((path) => path.replace('/esb/', '/%65sb/'), unknown),
  at((path) => path.replace('/esb/', '/esb%2f'), gate),
  at((path) => path.replace('/esb/', '/esb\\'), gate),
  at((path) => path.replace('/esb/', '/esb;a/'), gate),
  at((path) => path.replace('/esb/', '/esb/../'), unknown),
  at(() => '/esb/../query', unknown),
  at((path) => `${cut(path)[0]}/../../query`, unknown),
  ...['/', '//', '/x/..', '/.', '/%2e', '/%2e%2e/x', '%2f', '\\', ';a', '%00', '%20'].map(between),
  at((path) => path.replace(/e(\d+)$/, '%65$1'), unknown),
  at((path) => path.replace(/e(\d+)$/, 'E$1'), unknown),
  at((path) => path.replace(/e(\d+)$/, '%2fe$1'), unknown),
  ...[
    '/',
    '//',
    '/.',
    '/..',
    '\\',
    '#',
    '#x',
    '?a#x',
    '#?a',
    ';a=1',
    '%00',
    '%20',
    '%0d%0aX:%20y',
    '.',
    'a'.repeat(10_000),
  ].map((end) => at((path) => path + end, unknown)),
  ...['%', '%zz', '\u0000', '\t', '?a b', '?\u0000', '?\u00e9', '\u00e9', '\u007f'].map((end) =>
    at((path) => path + end, malformed),
  ),
  at((path) => `${path}?${'a'.repeat(20_000)}`, tooLarge),
  ...[
    '?',
    '??',
    '?a=1?b=2',
    '?%',
    '?a=%0d%0aX:%20y',
    '?"<>{}|^`\\',
    `?${'a'.repeat(12_000)}`,
    '?a=/../..',
    '?http://h',
  ].map(withQuery),
  {
    name: 'the application in upper case',
    bytes: get((path) => path.replace(/[0-9a-f-]{36}/, (id) => id.toUpperCase())),
    forwarded: { body: '' },
  },
]

const passed = (
  name: string,
  headers: readonly string[],
  passes: Record<string, string> = {},
): SmugglingCase => ({
  name,
  bytes: post(lines(...headers, length5)),
  forwarded: { body: 'hello', passes },
})
const words = (names: string): string[] => names.split(' ').map((name) => `${name}: x`)
const connections: SmugglingCase[] = [
  passed('Connection: x-esb-auth', ['Connection: x-esb-auth', 'X-Esb-Auth: v']),
  passed('Connection: content-type', ['Connection: content-type', 'Content-Type: text/plain']),
  passed('Connection: content-length', ['Connection: content-length']),
  passed('Connection: host, x-request-id', ['Connection: host, x-request-id']),
  passed('Connection twice', ['Connection: X-A', 'X-B: 2', 'connection: x-b', 'X_a: 3', 'X-A: 1']),
  passed('Connection with empty names', ['Connection: ,, keep-alive ,\tX-A', 'X-A: 1', 'X-C: 3'], {
    'x-c': '3',
  }),
  {
    name: 'Connection: transfer-encoding',
    bytes: post(lines('Connection: transfer-encoding', chunked), inChunks('hello')),
    forwarded: { body: 'hello' },
  },
  {
    name: 'Connection: close, authorization',
    bytes: post(lines('Connection: close, authorization', length5)),
    forwarded: { body: 'hello', closes: true },
  },
  passed(
    'what concerns one connection',
    words(
      'Keep-Alive Proxy-Connection TE Trailer Proxy-Authorization Proxy-Authenticate Upgrade HTTP2-Settings',
    ),
  ),
  passed('Expect', ['Expect: 100-continue']),
  passed(
    'what tells who somebody is',
    words(
      'Cookie X-Proxy-Auth X-Token-Subject X_Token_Subject X-User-Id x_user-id X-Tenant-Id Forwarded ' +
        'X-Forwarded-For X-Forwarded_Host X_FORWARDED_PROTO',
    ),
  ),
  passed('names of objects', ['__proto__: a', 'constructor: b'], { ['__proto__']: 'a', constructor: 'b' }),
  // The gateway does not treat a name with an underscore as a length, and must not forward it as one.
  {
    name: 'Content_Length and Transfer_Encoding',
    bytes: post(lines('Content_Length: 5', 'Transfer_Encoding: chunked'), ''),
    forwarded: { body: '' },
  },
]

const versions: SmugglingCase[] = [
  ...['HTTP/1.2', 'HTTP/1.10', 'http/1.1', 'HTTP/1.1 ', 'HTTP/1', 'HTTP/', 'XTTP/1.1', 'HTTP/3.0'].map(
    (version) => ({
      name: `version ${shown(version)}`,
      bytes: request((path) => `GET ${path} ${version}`, ''),
      refused: malformed,
    }),
  ),
  {
    name: 'HTTP/1.0',
    bytes: request((path) => `POST ${path} HTTP/1.0`, length5, 'hello'),
    forwarded: { body: 'hello', closes: true },
  },
  {
    name: 'HTTP/1.0 that keeps its connection',
    bytes: request((path) => `POST ${path} HTTP/1.0`, lines('Connection: keep-alive', length5), 'hello'),
    forwarded: { body: 'hello' },
  },
  {
    name: 'HTTP/1.0 in chunks',
    bytes: request(
      (path) => `POST ${path} HTTP/1.0`,
      chunked,
      (caller: Caller) => inChunks(innerOf(caller)),
    ),
    forwarded: { closes: true },
  },
  // Node parses these versions as a request without keep-alive.
  ...['HTTP/0.9', 'HTTP/2.0'].map((version) => ({
    name: version,
    bytes: request((path) => `GET ${path} ${version}`, ''),
    forwarded: { body: '', closes: true },
  })),
  { name: 'a preface of HTTP/2', bytes: () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', refused: malformed },
  {
    name: 'an upgrade to h2c',
    bytes: post(
      lines(
        'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABkAAQAAP__',
        length5,
      ),
    ),
    forwarded: { body: 'hello' },
  },
  {
    name: 'an upgrade to a WebSocket',
    bytes: get(
      (path) => path,
      lines('Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'),
    ),
    forwarded: { body: '', passes: { 'sec-websocket-version': '13' } },
  },
  {
    name: 'TRACE',
    bytes: request((path) => `TRACE ${path} HTTP/1.1`, ''),
    forwarded: { method: 'TRACE', body: '' },
  },
  // Tunnels are not supported: the connection is closed.
  { name: 'CONNECT', bytes: request((path) => `CONNECT ${path} HTTP/1.1`, '', innerOf), refused: [] },
  { name: 'CONNECT h:80', bytes: request(() => 'CONNECT h:80 HTTP/1.1', '', innerOf), refused: [] },
  ...['FOO', 'post', 'PRI', 'GET\t', ''].map((method) => ({
    name: `method ${shown(method)}`,
    bytes: request((path) => `${method} ${path} HTTP/1.1`, ''),
    refused: malformed,
  })),
  { name: 'two blanks before the target', bytes: get((path) => ` ${path}`), forwarded: { body: '' } },
  {
    name: 'a handshake of TLS',
    bytes: () => '\u0016\u0003\u0001\u0000\u00a5\u0001\u0000\u0000\u00a1\u0003\u0003',
    refused: malformed,
  },
  { name: 'zeros', bytes: () => '\u0000'.repeat(100), refused: malformed },
  { name: 'a text', bytes: () => `hello world${crlf}${crlf}`, refused: malformed },
  {
    name: 'an answer',
    bytes: () => `HTTP/1.1 200 OK${crlf}Content-Length: 0${crlf}${crlf}`,
    refused: malformed,
  },
]

export const headCases: readonly SmugglingCase[] = [...heads, ...targets, ...connections, ...versions]
