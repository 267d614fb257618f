// Tests requests and their retries against a scripted server, which counts the requests that must not be repeated.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Upstream, startUpstream } from '../../manager/test/kit/upstream.ts'
import {
  ConnectionError,
  GraphqlError,
  ResponseError,
  callEsb,
  connect,
  graphql,
  languagePack,
  listNotifications,
  markRead,
  markSeen,
  send,
  sendForJson,
} from '../src/index.ts'

let server: Upstream
beforeAll(async () => {
  server = await startUpstream()
})
afterEach(() => server.reset())
afterAll(() => server.close())

const connection = (options: Partial<Parameters<typeof connect>[0]> = {}) =>
  connect({ url: server.url, ...options })
const methods = (): string[] => server.received.map(({ method }) => method)

/** Responds with these statuses in order, then with 200. */
function answerWith(statuses: readonly number[], headers: Record<string, string> = {}): void {
  const rest = statuses.values()
  server.answer((_request, response) => {
    const { value: status = 200 } = rest.next()
    response.writeHead(status, status === 200 ? {} : headers).end('{"error":"not now","code":"unavailable"}')
  })
}
/** Creates a connection that records its calls instead of sending them. */
function asked(options: Partial<Parameters<typeof connect>[0]> = {}) {
  const { token = () => 'secret' } = options
  const tokens = { asked: 0, sent: [] as string[] }
  const one = connection({
    ...options,
    token: () => {
      tokens.asked += 1
      return typeof token === 'function' ? token() : token
    },
    fetch: (url) => {
      tokens.sent.push(url as string)
      return Promise.resolve(new Response('{}'))
    },
  })
  return [one, tokens] as const
}
const get = { method: 'GET', path: '/thing' }
const post = { method: 'POST', path: '/thing', json: { a: 1 } }

describe('what is sent again', () => {
  test.each([408, 425, 429, 502, 503, 504])('a GET that was answered %i', async (status) => {
    answerWith([status, status], { 'retry-after': '0' })
    await send(connection(), get)
    expect(methods()).toEqual(['GET', 'GET', 'GET'])
  })

  test.each(['PUT', 'DELETE', 'HEAD'])('a %s, as often as the connection says', async (method) => {
    answerWith([503, 503, 503, 503, 503], { 'retry-after': '0' })
    await expect(send(connection({ maxRetries: 2 }), { method, path: '/' })).rejects.toThrow(ResponseError)
    expect(methods()).toEqual([method, method, method])
  })

  test('a POST that was refused before it was looked at, with the same body', async () => {
    answerWith([429], { 'retry-after': '0' })
    await send(connection(), post)
    expect(server.received.map(({ body }) => body.toString())).toEqual(['{"a":1}', '{"a":1}'])
  })

  test('what got no answer, and what got a part of one', async () => {
    let count = 0
    server.handle((request: IncomingMessage, response: ServerResponse) => {
      count += 1
      if (count === 1) return request.socket.destroy()
      if (count === 2) {
        response.writeHead(200, { 'content-length': '100' })
        return void response.write('{"tenants":', () => request.socket.destroy())
      }
      response.end('{"tenants":[]}')
    })
    expect(await sendForJson(connection(), get)).toEqual({ tenants: [] })
    expect(count).toBe(3)
  })

  test('not before the time that Retry-After names has passed', async () => {
    const times: number[] = []
    server.answer((_request, response) => {
      times.push(performance.now())
      response.writeHead(times.length === 1 ? 503 : 200, { 'retry-after': '1' }).end()
    })
    await send(connection(), get)
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(990)
  })

  test('with the token of that moment', async () => {
    answerWith([503], { 'retry-after': '0' })
    const tokens = ['first', 'second'].values()
    await send(connection({ token: () => tokens.next().value ?? '' }), get)
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer first',
      'Bearer second',
    ])
  })
})

describe('what is not sent again', () => {
  test.each([502, 503, 504])('a POST that was answered %i', async (status) => {
    answerWith([status], { 'retry-after': '0' })
    await expect(send(connection(), post)).rejects.toMatchObject({ status })
    expect(methods()).toEqual(['POST'])
  })

  test('a POST that got no answer', async () => {
    let count = 0
    server.handle((request) => {
      count += 1
      request.socket.destroy()
    })
    await expect(send(connection(), post)).rejects.toThrow(ConnectionError)
    expect(count).toBe(1)
  })

  test('a mutation, whereas a query is', async () => {
    answerWith([503, 503], { 'retry-after': '0' })
    await expect(graphql(connection(), 'mutation { a }', {})).rejects.toMatchObject({ status: 503 })
    expect(server.received).toHaveLength(1)
    server.answer((_request, response) =>
      response
        .writeHead(server.received.length < 4 ? 503 : 200, { 'retry-after': '0' })
        .end('{"data":{"a":1}}'),
    )
    expect(await graphql(connection(), 'query { a }', {})).toEqual({ a: 1 })
    expect(server.received).toHaveLength(4)
  })

  test('a body that is a stream, even after 429', async () => {
    answerWith([429], { 'retry-after': '0' })
    const content = new Blob(['text']).stream()
    const sent = send(connection(), { method: 'PUT', path: '/', body: { content, type: 'text/plain' } })
    await expect(sent).rejects.toMatchObject({ status: 429 })
    expect(server.received.map(({ body }) => body.toString())).toEqual(['text'])
  })

  test.each([400, 401, 403, 404, 409, 500])('what was answered %i', async (status) => {
    answerWith([status])
    await expect(send(connection(), get)).rejects.toMatchObject({ status, message: 'not now' })
    expect(methods()).toEqual(['GET'])
  })

  test.each([
    ['in seconds', () => '3600'],
    ['as a date', () => new Date(Date.now() + 3_600_000).toUTCString()],
  ])('what shall wait for an hour, named %s: the caller is told how long', async (_, value) => {
    answerWith([503], { 'retry-after': value() })
    const error = await send(connection(), get).catch((thrown: unknown) => thrown as ResponseError)
    expect(methods()).toEqual(['GET'])
    // Dates have a resolution of 1 s, and a busy machine adds delay.
    expect((error as ResponseError).retryAfterMs).toBeGreaterThan(3_000_000)
    expect((error as ResponseError).retryAfterMs).toBeLessThanOrEqual(3_600_000)
  })

  test('a mutation that the service rejects for now: its GraphqlError has the delay', async () => {
    server.answer((_request, response) =>
      response
        .writeHead(503, { 'retry-after': '3' })
        .end('{"errors":[{"message":"overloaded"}],"data":null}'),
    )
    const rejection = graphql(connection(), 'mutation { a }', {})
    await expect(rejection).rejects.toMatchObject({ message: 'overloaded', retryAfterMs: 3_000 })
    await expect(rejection).rejects.toThrow(GraphqlError)
  })

  test('what is aborted while it waits, and what was aborted before', async () => {
    answerWith([503], { 'retry-after': '20' })
    const ending = new AbortController()
    const sent = send(connection(), { ...get, signal: ending.signal })
    await expect.poll(methods).toEqual(['GET'])
    ending.abort(new Error('enough'))
    await expect(sent).rejects.toThrow('enough')
    await expect(send(connection(), { ...get, signal: ending.signal })).rejects.toThrow('enough')
    expect(methods()).toEqual(['GET'])
  })
})

describe('an answer', () => {
  test('that does not come is waited for as long as the connection says', async () => {
    server.handle(() => undefined)
    const sent = send(connection({ timeoutMs: 50, maxRetries: 0 }), get)
    await expect(sent).rejects.toThrow(`GET ${server.url}/thing: no response within 50 ms`)
  })

  test('that the caller reads has the time it needs', async () => {
    const { promise: resume, resolve } = Promise.withResolvers<void>()
    server.handle((_request, response) => {
      response.writeHead(200)
      response.write('a')
      void resume.then(() => response.end('b'))
    })
    const response = await send(connection({ timeoutMs: 1_000 }), get)
    setTimeout(resolve, 1_100)
    expect(await response.text()).toBe('ab')
  })

  test('that is a redirect is not followed', async () => {
    answerWith([302], { location: `${server.url}/elsewhere` })
    await expect(send(connection({ token: 'secret' }), get)).rejects.toMatchObject({ status: 302 })
    expect(server.received.map(({ url }) => url)).toEqual(['/thing'])
  })

  test('that is no JSON is told from one that is', async () => {
    server.answer((_request, response) => response.end('<!doctype html>'))
    await expect(sendForJson(connection(), get)).rejects.toThrow(
      'the response is not JSON; check that url is the address of the Manager or its proxy',
    )
  })

  test('tells its message, its code and its request, in every form of errors', async () => {
    const bodies = [
      { error: 'gone', code: 'gone', request_id: 'r1' },
      { success: false, message: 'gone', code: 'gone', request_id: 'r1' },
      { errors: [{ message: 'gone' }], code: 'gone', request_id: 'r1' },
    ]
    for (const body of bodies) {
      server.answer((_request, response) => response.writeHead(410).end(JSON.stringify(body)))
      const expected = { message: 'gone', code: 'gone', requestId: 'r1', status: 410, body }
      await expect(send(connection(), get)).rejects.toMatchObject(expected)
    }
    server.answer((_request, response) => response.writeHead(500).end('<h1>no</h1>'))
    await expect(send(connection(), get)).rejects.toMatchObject({ message: 'status 500', code: null })
  })

  test('lists the invalid values, and nothing else that is called details', async () => {
    const fieldsOf = async (details: unknown) => {
      server.answer((_request, response) =>
        response.writeHead(400).end(JSON.stringify({ error: 'no', details })),
      )
      const error = await send(connection(), get).catch((one: unknown) => one)
      return (error as ResponseError).fields
    }
    const problems = [
      { path: 'type', message: 'type must be dotted' },
      { path: 'roles.1', message: 'roles must be names' },
    ]
    expect(await fieldsOf(problems)).toEqual(problems)
    for (const other of [undefined, null, 'text', { path: 'a' }, [1, null, { path: 1, message: 'a' }]])
      expect(await fieldsOf(other)).toEqual([])
  })

  test('with an endless error is read up to a bound', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    server.handle((_request, response) => {
      response.on('close', resolve)
      response.writeHead(500)
      const more = (): boolean => response.write('x'.repeat(65_536))
      response.on('drain', more)
      more()
    })
    await expect(send(connection(), get)).rejects.toThrow('status 500')
    await closed
  })
})

describe('headers', () => {
  test('of the connection are sent, and those of a request go before them', async () => {
    const one = connection({ headers: { 'X-Name': 'a', 'User-Agent': 'svc' }, token: 't' })
    await send(one, { ...post, headers: { 'x-name': 'b' } })
    expect(server.received[0]?.headers).toMatchObject({
      'x-name': 'b',
      'user-agent': 'svc',
      'content-type': 'application/json',
      authorization: 'Bearer t',
    })
  })

  test('a token is sent nowhere when there is none', async () => {
    await send(connection(), get)
    expect(server.received[0]?.headers.authorization).toBeUndefined()
  })

  test.each(['secret\nx', 'secret\n', 'secret x', ' secret', 'secret\u00fc', ''])(
    'a token that cannot be one is refused at once, and is not shown: %j',
    async (token) => {
      const [one, tokens] = asked({ token: () => token })
      const error = await send(one, get).catch((thrown: unknown) => thrown as TypeError)
      expect(error).toBeInstanceOf(TypeError)
      expect(inspect(error)).toContain('the token is empty or contains characters')
      expect(inspect(error)).not.toContain('secret')
      expect(tokens).toEqual({ asked: 1, sent: [] })
    },
  )

  test('a header that cannot be one is refused at once, and its value is not shown', async () => {
    const [one, { sent }] = asked({ headers: { 'x-proxy-auth': 'secret\nx' } })
    const error = await send(one, get).catch((thrown: unknown) => thrown as TypeError)
    expect(inspect(error)).toContain('TypeError: the header x-proxy-auth contains line breaks')
    expect(inspect(error)).not.toContain('secret')
    expect(sent).toEqual([])
    await send(connection({ headers: { 'x-name': 'J\u00fcrgen\n' } }), get)
  })
})

describe('a path', () => {
  test.each([
    'comms',
    '',
    '@evil.example/x',
    ':8080/x',
    '.evil.example/x',
    '//evil.example/x',
    '/\\evil.example/x',
    '/a\\..\\b',
    '/..',
    '/a/.',
    '/a/../b',
    '/a/..?b=c',
    '/a/.. ',
    '/a/%2E%2e/b',
    '/a/.%2e/b',
    '/a/.\n./b',
    '/a/..\u0000',
  ])('that leads elsewhere is refused, and no token is asked for: %j', async (path) => {
    const [one, tokens] = asked()
    await expect(send(one, { method: 'GET', path })).rejects.toThrow(TypeError)
    await expect(send(one, { method: 'GET', path })).rejects.toThrow('path must start with one slash')
    expect(tokens).toEqual({ asked: 0, sent: [] })
  })

  test.each(['/', '/a//b', '/.well-known/a..b/...', '/a?b=/../c', '/@a/b@c', '/a%2fb'])(
    'that does not is sent as it is: %s',
    async (path) => {
      await send(connection(), { method: 'GET', path })
      expect(server.received.map(({ url }) => url)).toEqual([path])
    },
  )

  test('cannot be left by an endpoint, an inbox or an id', async () => {
    const [one, { sent }] = asked()
    const path = '/../../api/machine/comms/emit'
    const calls = [
      () => callEsb(one, { applicationId: 'a', path, body: '{}' }),
      () => callEsb(one, { applicationId: '..', path: '/orders' }),
      () => listNotifications(one, { path: 'comms' }),
      () => markRead(one, { path: '@evil.example' }, 'all'),
      () => markSeen(one, { applicationId: '..' }, []),
      () => languagePack(one, { applicationId: '.', locale: 'de' }),
    ]
    for (const call of calls) await expect(call()).rejects.toThrow(TypeError)
    expect(sent).toEqual([])
  })
})

test.each(['manager.example.com', 'ftp://x', '/comms', 'https://x/path', 'https://', 'https://x:99999'])(
  'connect refuses %s',
  (url) => {
    expect(() => connect({ url })).toThrow('url must be http:// or https:// with a host and without a path')
  },
)

test('connect refuses credentials in the url, and does not show them', () => {
  expect(() => connect({ url: 'https://user:secret@x' })).toThrow(/^url must not contain a user name/)
  expect(() => connect({ url: 'https://user:secret@x/path' })).toThrow(
    /^url must not contain a user name[^@]*$/,
  )
})

test.each([
  ['timeoutMs', [Number.NaN, 0, -1, Infinity, 2 ** 31]],
  ['maxRetries', [Number.NaN, -1, Infinity]],
] as const)('connect refuses %s of %j', (name, values) => {
  for (const value of values)
    expect(() => connection({ [name]: value })).toThrow(new RegExp(`^${name} must be a number from [01] to`))
})
