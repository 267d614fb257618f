// These tests cover which headers are forwarded in both directions, and the endpoint's credentials.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Gateway, type HeaderLine, startGateway } from '../../../test/kit/gateway.ts'
import { uuid } from '../../../test/kit/members.ts'

let gateway: Gateway
let path: string
beforeAll(async () => {
  gateway = await startGateway()
  ;({ path } = await gateway.endpoint({ url: `${gateway.upstream.url}/target` }))
})
afterAll(() => gateway.close())
beforeEach(() => gateway.upstream.reset())

const words = (text: string): string[] => text.split(' ')
const linesOf = (raw: readonly string[] = []): HeaderLine[] =>
  Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i] as string, raw[2 * i + 1] as string])
/** Returns the last headers that the upstream received, without connection headers. */
const received = (): HeaderLine[] =>
  linesOf(gateway.upstream.received.at(-1)?.rawHeaders).filter(
    ([name]) => !['host', 'connection', 'x-request-id', 'x-svc-hops'].includes(name.toLowerCase()),
  )
/** Returns which of these headers the upstream receives. */
async function passed(...headers: HeaderLine[]): Promise<HeaderLine[]> {
  const { status } = await gateway.send(path, { headers })
  expect([headers, status]).toEqual([headers, 200])
  return received()
}
/** Returns the headers that the caller receives from a response that starts with these lines. */
async function passedBack(head: string, body = 'ok'): Promise<HeaderLine[]> {
  gateway.upstream.handle((_request, response) =>
    response.socket?.end(Buffer.from(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`, 'latin1')),
  )
  const { status, text, rawHeaders } = await gateway.send(path)
  expect([head, status, text]).toEqual([head, 200, 'ok'])
  return linesOf(rawHeaders).filter(
    ([name]) => !['date', 'connection', 'x-request-id', 'transfer-encoding'].includes(name.toLowerCase()),
  )
}

describe('from the caller to the upstream', () => {
  test('[esb.stripped-headers] who the caller is and whom they came through stays here, in every spelling', async () => {
    const names = words(
      'Cookie X-Proxy-Auth X-User-Id X-Tenant-Id Forwarded X-Request-Id ' +
        'X-Token-Subject X-Token-User-Email X-Token- X-Token-Anything-At-All ' +
        'X-Forwarded-For X-Forwarded-Proto X-Forwarded-Host X-Forwarded- X-Forwarded-New ' +
        'X-Real-IP OIDC-CLAIM-sub OIDC-CLAIM-email OIDC-access-token X-Svc-User X-Svc-Tenant X-Svc-Anything ' +
        'Proxy-Authorization Proxy-Authenticate Proxy-Authentication-Info',
    )
    for (const name of names)
      for (const spelt of [name, name.toLowerCase(), name.toUpperCase(), name.replaceAll('-', '_')])
        expect([spelt, await passed([spelt, 'a'], ['X-Other', '1'], [spelt, 'b'])]).toEqual([
          spelt,
          [['X-Other', '1']],
        ])
    // With a hyphen instead of the underscore, these headers would frame the body.
    for (const spelt of ['Content_Length', 'TRANSFER_encoding'])
      expect([spelt, await passed([spelt, '1'])]).toEqual([spelt, []])
  })

  test('[esb.stripped-headers] Host and Authorization of the caller are replaced by those of the endpoint', async () => {
    await passed(['x-a', '1'])
    const { headers } = gateway.upstream.received[0] ?? {}
    expect([headers?.host, headers?.authorization]).toEqual([`127.0.0.1:${gateway.upstream.port}`, undefined])
    expect(JSON.stringify(gateway.upstream.received)).not.toContain(gateway.machine.token)
  })

  test('[esb.hop-by-hop] what is about one connection is not passed on', async () => {
    const lines: HeaderLine[] = [
      ['Keep-Alive', 'timeout=5'],
      ['Proxy-Connection', 'keep-alive'],
      ['TE', 'trailers'],
      ['Trailer', 'X-Sum'],
      ['Upgrade', 'h2c'],
      ['HTTP2-Settings', 'AAMAAABkAAQ'],
    ]
    const passedOn = async (...headers: HeaderLine[]): Promise<HeaderLine[]> => {
      const sent = { method: 'POST', headers, body: 'x', isChunked: true }
      expect((await gateway.send(path, sent)).status).toBe(200)
      expect(gateway.upstream.received.at(-1)?.body.toString()).toBe('x')
      // One of these two headers is present, depending on the framing of the body.
      return received().filter(([name]) => !['content-length', 'transfer-encoding'].includes(name))
    }
    for (const [name, value] of lines)
      for (const spelt of [name, name.toLowerCase(), name.replaceAll('-', '_')])
        expect([spelt, await passedOn([spelt, value], ['X-Other', '1'])]).toEqual([spelt, [['X-Other', '1']]])
    expect(await passedOn(['Connection', 'Upgrade, HTTP2-Settings'], ...lines)).toEqual([])
  })

  test('[esb.hop-by-hop] what Connection names is dropped, however it is named', async () => {
    const marks: HeaderLine[] = [
      ['x-esb-auth', 'secret'],
      ['X-Esb-Other', '1'],
      ['x_esb_auth', 'secret'],
    ]
    const other = [['X-Esb-Other', '1']]
    expect(await passed(['Connection', 'x-esb-auth, keep-alive'], ...marks)).toEqual(other)
    expect(await passed(['connection', 'keep-alive,X-ESB-Auth'], ...marks)).toEqual(other)
    expect(await passed(['CONNECTION', ' close , x_esb_auth '], ...marks)).toEqual(other)
    expect(await passed(...marks, ['Connection', 'close'], ['Connection', 'x-esb-auth'])).toEqual(other)
    expect(await passed(['Connection', 'x-esb-auth,x-esb-other'], ...marks)).toEqual([])
    for (const plain of ['keep-alive', 'close', 'Keep-Alive', ''])
      expect(await passed(['Connection', plain], ...marks)).toEqual(marks)
  })

  test('[esb.hop-by-hop] everything else passes as it came: order, case, repeats, bytes', async () => {
    const lines: HeaderLine[] = [
      ['X-Custom', 'one'],
      ['accept', 'text/*;q=0.5'],
      ['X-CUSTOM', 'two'],
      ['User-Agent', 'a caller/1.0'],
      ['x-custom', 'one'],
      ['X-Latin', 'caf\u00e9 \u00ff'],
      ['X-Empty', ''],
      ['X_Custom', 'under'],
      ['X-Tabs', 'a\tb  c'],
      ['Accept-Encoding', 'gzip, br'],
      ['If-None-Match', '"a", W/"b"'],
      ['Range', 'bytes=0-1'],
      ['Via', '1.1 elsewhere'],
      ['X-Tokens', 'x'],
      ['Token-X-Token-A', 'y'],
      ['X-Forwarder', 'z'],
      ['Host-Name', 'h'],
      ['x-api-key', 'for the partner'],
    ]
    expect(await passed(...lines)).toEqual(lines)
  })

  test('[esb.hop-by-hop] X-Request-Id is set, echoed and kept when the caller sends a usable one', async () => {
    const usable = ['a', 'Abc-1.2_3', 'x'.repeat(64)]
    const unusable = ['', 'a b', 'a/b', 'caf\u00e9', 'x'.repeat(65), 'a,b']
    for (const id of [...usable, ...unusable]) {
      const { headers } = await gateway.send(path, { headers: [['X-Request-ID', id]] })
      const sent = linesOf(gateway.upstream.received.at(-1)?.rawHeaders).filter(([name]) =>
        /request.id/i.test(name),
      )
      expect([id, headers['x-request-id']]).toEqual([id, usable.includes(id) ? id : uuid])
      expect(sent).toEqual([['X-Request-Id', headers['x-request-id']]])
    }
    const { headers } = await gateway.send(path, {
      headers: [
        ['x-request-id', 'a'],
        ['x-request-id', 'a'],
      ],
    })
    expect(headers['x-request-id']).toEqual(uuid)
  })

  test('[esb.body-unchanged] a content type passes as it is, and none is made up or refused', async () => {
    const types = [
      'application/json',
      'APPLICATION/JSON; Charset="utf-8"; x=y',
      'text/xml',
      'multipart/form-data; boundary=----a b',
      'application/x-www-form-urlencoded',
      'nonsense',
      '/',
      ';;;',
      'a/b/c, d/e',
      'a /b',
      'caf\u00e9/x',
      '',
      'text/plain; charset',
      'text/plain; charset=',
      'a/b;=y',
      'a/b; x="unclosed',
      '*/*',
    ]
    for (const type of types) {
      const { status } = await gateway.send(path, {
        method: 'POST',
        body: '{"a"',
        headers: [['Content-Type', type]],
      })
      expect([type, status]).toEqual([type, 200])
      expect(received()).toEqual([
        ['Content-Type', type],
        ['content-length', '4'],
      ])
      expect(gateway.upstream.received.at(-1)?.body.toString()).toBe('{"a"')
    }
    await gateway.send(path, { method: 'POST', body: 'x' })
    expect(received()).toEqual([['content-length', '1']])
    await gateway.send(path, {
      method: 'POST',
      headers: types.slice(0, 2).map((type) => ['Content-Type', type]),
    })
    expect(
      received()
        .filter(([name]) => name === 'Content-Type')
        .map(([, type]) => type),
    ).toEqual(types.slice(0, 2))
  })
})

describe("the endpoint's credentials", () => {
  const authorization = async (at: string, ...headers: HeaderLine[]) => {
    expect((await gateway.send(at, { headers })).status).toBe(200)
    return linesOf(gateway.upstream.received.at(-1)?.rawHeaders).filter(([name]) =>
      /authorization/i.test(name),
    )
  }
  const basicOf = (pair: string) => [['Authorization', `Basic ${Buffer.from(pair).toString('base64')}`]]

  test('[esb.credentials] Basic is user name and password in UTF-8; what changes holds for the next call', async () => {
    const { id, path: at } = await gateway.endpoint({
      url: gateway.upstream.url,
      authType: 'Basic',
      authUsername: 'J\u00f6rg \u20ac',
      authPassword: 'p\u00e4ss:w\u00f6rd \u{1f511}',
    })
    expect(await authorization(at)).toEqual(basicOf('J\u00f6rg \u20ac:p\u00e4ss:w\u00f6rd \u{1f511}'))
    const changes: [Record<string, string>, string][] = [
      [{ authPassword: 'second' }, 'J\u00f6rg \u20ac:second'],
      [{ authUsername: 'anna' }, 'anna:second'],
      [{ authPassword: '' }, 'anna:'],
      [{ authUsername: '' }, ':'],
    ]
    for (const [change, pair] of changes) {
      expect((await gateway.endpoints.update(gateway.admin, id, change)).error).toBeNull()
      expect(await authorization(at)).toEqual(basicOf(pair))
    }
  })

  test('[esb.credentials] Bearer is the token; other characters than ASCII travel as UTF-8', async () => {
    const { id, path: at } = await gateway.endpoint({
      url: gateway.upstream.url,
      authType: 'Bearer',
      authToken: 'upstream-token',
      authUsername: 'unused',
      authPassword: 'unused',
    })
    expect(await authorization(at)).toEqual([['Authorization', 'Bearer upstream-token']])
    const own: HeaderLine[] = [
      ['Proxy-Authorization', 'Bearer x'],
      ['Connection', 'authorization'],
    ]
    expect(await authorization(at, ...own)).toEqual([['Authorization', 'Bearer upstream-token']])
    await gateway.endpoints.update(gateway.admin, id, { authToken: 't\u00f6ken' })
    const utf8 = Buffer.from('Bearer t\u00f6ken').toString('latin1')
    expect(await authorization(at)).toEqual([['Authorization', utf8]])
    await gateway.endpoints.update(gateway.admin, id, { authType: 'None' })
    expect(await authorization(at)).toEqual([])
  })
})

describe('from the upstream to the caller', () => {
  test('[esb.response] end-to-end headers pass with their repeats in order, and byte for byte', async () => {
    const head = [
      'Content-Type: text/plain; charset=latin1',
      'Set-Cookie: a=1; Path=/',
      'X-Custom: one',
      'set-cookie: b=2; HttpOnly',
      'X-Custom: two',
      'X-Latin: caf\u00e9',
      'Cache-Control: max-age=60',
      'ETag: W/"x"',
      'Location: /elsewhere?x=1',
      'WWW-Authenticate: Basic realm="theirs"',
      'Server: theirs',
      'X-Empty:',
      'X-Forwarded-For: theirs',
      'X-Token-Subject: theirs',
      'Authorization: theirs',
      'Strict-Transport-Security: max-age=1',
      'Access-Control-Allow-Origin: *',
    ]
    const back = await passedBack(head.join('\r\n'))
    const sorted = (lines: HeaderLine[]) => lines.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    const sent = head.map((line): HeaderLine => {
      const [, name = '', value = ''] = /^([^:]+): ?(.*)$/.exec(line) ?? []
      return [name.toLowerCase(), value]
    })
    expect(sorted(back)).toEqual(sorted(sent))
  })

  test('[esb.response] the date is the upstream\u2019s, and the lengths it announces are kept', async () => {
    const date = 'Tue, 03 Nov 2015 10:00:00 GMT'
    gateway.upstream.handle((_request, response) =>
      response.socket?.end(`HTTP/1.1 200 OK\r\nDate: ${date}\r\nContent-Length: 2\r\n\r\nok`),
    )
    const { rawHeaders } = await gateway.send(path)
    expect(linesOf(rawHeaders).filter(([name]) => /date|length/i.test(name))).toEqual([
      ['date', date],
      ['content-length', '2'],
    ])
  })

  test('[esb.response] what is about the upstream\u2019s connection is not passed back', async () => {
    const hop = [
      'Keep-Alive: timeout=77',
      'Proxy-Connection: x',
      'Proxy-Authenticate: Basic',
      'Proxy-Authentication-Info: x',
      'Proxy-Authorization: x',
      'TE: trailers',
      'Trailer: X-Sum',
      'Upgrade: h2c',
      'Expect: x',
      'X-Hop: 1',
      'X-Stays: 1',
    ]
    for (const connection of ['close, X-Hop', 'x-hop', 'close\r\nConnection: X-HOP'])
      expect(await passedBack([`Connection: ${connection}`, ...hop].join('\r\n'))).toEqual([['x-stays', '1']])
    const chunks = '2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n'
    expect(await passedBack('Transfer-Encoding: chunked\r\nTrailer: X-Sum', chunks)).toEqual([
      ['content-length', '2'],
    ])
  })

  test('[esb.hop-by-hop] the request id of the answer is ours, whatever the upstream says', async () => {
    gateway.upstream.answer((_request, response) => {
      response.setHeader('X-Request-Id', 'theirs').setHeader('x-other', '1').end()
    })
    const { rawHeaders } = await gateway.send(path, { headers: [['x-request-id', 'ours']] })
    expect(linesOf(rawHeaders).filter(([name]) => /^x-/i.test(name))).toEqual([
      ['x-other', '1'],
      ['x-request-id', 'ours'],
    ])
  })
})
