import { once } from 'node:events'
import { type Socket, createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createCertificate } from '@manager/harness/certificates.ts'
import {
  type Play,
  type RawUpstream,
  type RawUpstreamOptions,
  startRawUpstream,
} from '@manager/harness/raw-upstream.ts'
import { createCallbacksPolicy } from './egress-policies.ts'
import { createNameResolver } from './names.ts'
import { type OriginPool, type OutboundPools, createOutboundPools } from './pools.ts'
import { SendFailure, type SendRequest, send } from './send.ts'

const long = 600_000
const limits = { maxPerOrigin: 2, maxSockets: 8, connectTimeoutMs: long }
let pools: OutboundPools
let upstreams: RawUpstream[]
beforeEach(() => {
  const policy = createCallbacksPolicy(['127.0.0.1/32'])
  pools = createOutboundPools({ ...limits, policy, ownServices: [], nameResolver: createNameResolver() })
  upstreams = []
})
afterEach(async () => {
  await pools.close()
  for (const upstream of upstreams) await upstream.close()
})

const upstream = async (play: Play, options?: RawUpstreamOptions): Promise<RawUpstream> => {
  const started = await startRawUpstream(play, options)
  upstreams.push(started)
  return started
}
const poolOf = (url: string, project = 'project'): OriginPool => pools.getPool(project, url)
const sendTo = (pool: OriginPool, options: Partial<SendRequest> = {}) =>
  send({
    pool,
    path: '/callback',
    method: 'POST',
    headers: ['content-type', 'application/json'],
    body: Buffer.from('{"a":1}'),
    timeoutMs: long,
    maxResponseBytes: 100,
    ...options,
  })
/** Sends a request that must fail; returns the phase and the reason. */
const failureOf = async (pool: OriginPool, options: Partial<SendRequest> = {}): Promise<[string, string]> => {
  const error: unknown = await sendTo(pool, options).then(
    () => 'an answer',
    (failure: unknown) => failure,
  )
  expect(error).toBeInstanceOf(SendFailure)
  const { phase, reason, message } = error as SendFailure
  expect(message).toBe(reason)
  return [phase, reason]
}
const writes =
  (...parts: string[]): Play =>
  (socket) => {
    for (const part of parts) socket.write(part)
  }
const ok = writes('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-own: 1\r\n\r\nok')
/** Returns a port of this machine that no process listens on. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('an answer', () => {
  test('comes with status, headers and body, and the request went as it was given', async () => {
    const { url, requests, problems } = await upstream(ok)
    const pool = poolOf(url)
    const { status, headers, body, isTruncated } = await sendTo(pool)
    expect([status, headers['x-own'], body.toString(), isTruncated]).toEqual([200, '1', 'ok', false])
    expect(requests).toHaveLength(1)
    expect(requests[0]?.start).toBe('POST /callback HTTP/1.1')
    expect(requests[0]?.body.toString()).toBe('{"a":1}')
    expect([problems, pool.inFlight]).toEqual([[], 0])
  })

  test.each([204, 302, 307, 400, 410, 429, 500, 503])(
    'of status %i is an answer like others',
    async (status) => {
      const { url, requests } = await upstream(
        writes(`HTTP/1.1 ${status} Any\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n`),
      )
      expect(await sendTo(poolOf(url))).toMatchObject({ status, isTruncated: false })
      expect(requests).toHaveLength(1)
    },
  )

  test('of exactly the bytes that are wanted is whole, and one byte more is cut', async () => {
    const bodyOf = (length: number): Play =>
      writes(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${'x'.repeat(length)}`)
    for (const [length, isTruncated] of [
      [100, false],
      [101, true],
      [100_000, true],
    ] as const) {
      const pool = poolOf((await upstream(bodyOf(length))).url)
      const answer = await sendTo(pool)
      expect([answer.status, answer.body.length, answer.isTruncated]).toEqual([200, 100, isTruncated])
      await expect.poll(() => pool.inFlight).toBe(0)
    }
  })

  test('whose body does not come to its end is what its head says, when the time is over', async () => {
    const head = 'HTTP/1.1 503 Busy\r\nretry-after: 7\r\n'
    const stalled = [
      writes(`${head}\r\n`),
      writes(`${head}content-length: 10\r\n\r\n`, 'part'),
      writes(`${head}transfer-encoding: chunked\r\n\r\n`, '4\r\npart\r\n'),
    ].map(async (play) => {
      const { url, sockets } = await upstream(play)
      const pool = poolOf(url)
      const answer = await sendTo(pool, { timeoutMs: 3_000 })
      expect([answer.status, answer.headers['retry-after'], answer.isTruncated]).toEqual([503, '7', true])
      // The connection is closed, because the rest of the response could still arrive on it.
      await expect.poll(() => [sockets.size, pool.inFlight]).toEqual([0, 0])
      return answer.body.toString()
    })
    expect(await Promise.all(stalled)).toEqual(['', 'part', 'part'])
  })

  test.each([
    ['the connection ends', 'content-length: 10\r\n\r\npart', (socket: Socket) => void socket.end()],
    ['the connection is reset', '\r\npart', (socket: Socket) => void socket.resetAndDestroy()],
    ['a chunk is none', 'transfer-encoding: chunked\r\n\r\n4\r\npart\r\nnonsense\r\n', () => undefined],
  ])('whose body breaks because %s is what its head says', async (_why, rest, end) => {
    const { url } = await upstream((socket) => {
      socket.write(`HTTP/1.1 500 Broken\r\n${rest}`, () => end(socket))
    })
    const pool = poolOf(url)
    expect(await sendTo(pool)).toMatchObject({ status: 500, isTruncated: true })
    expect(pool.inFlight).toBe(0)
  })

  test('behind interim ones is waited for', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\n\r\n'
    const { url } = await upstream(writes(early.repeat(5), 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
    expect(await sendTo(poolOf(url))).toMatchObject({ status: 200, isTruncated: false })
  })
})

describe('a failure before anything is sent', () => {
  test('is one of the connection: nothing listens', async () => {
    const pool = poolOf(`http://127.0.0.1:${await closedPort()}`)
    expect(await failureOf(pool)).toEqual(['connect', 'the upstream refuses connections'])
    expect(pool.inFlight).toBe(0)
  })

  test('is one of the connection: the name does not resolve', async () => {
    const unknown = Object.assign(new Error('10.1.2.3 knows no backend.example'), { code: 'ENOTFOUND' })
    const nameResolver = { createLookup: () => () => Promise.reject(unknown) }
    const own = createOutboundPools({
      ...limits,
      policy: createCallbacksPolicy([]),
      ownServices: [],
      nameResolver,
    })
    expect(await failureOf(own.getPool('project', 'http://backend.example'))).toEqual([
      'connect',
      'the name of the upstream cannot be resolved',
    ])
    await own.close()
  })

  test.each(['http://127.0.0.2:80', 'http://10.0.0.1:80', 'http://169.254.169.254', 'http://[::1]:80'])(
    'is one of the connection: %s is not allowed',
    async (origin) => {
      expect(await failureOf(poolOf(origin))).toEqual([
        'connect',
        'the address of the upstream is not allowed',
      ])
    },
  )

  test('is one of the connection: TLS does not come about', async () => {
    const tls = await upstream(ok, { tls: createCertificate('alone', ['127.0.0.1']) })
    expect(await failureOf(poolOf(tls.url))).toEqual([
      'connect',
      'the certificate of the upstream is not trusted',
    ])
    expect(tls.requests).toEqual([])
  })

  test('is one of the connection: it is not there in time, and then nothing is sent on it', async () => {
    let connect: () => void = () => undefined
    const started = await upstream(ok)
    const { url } = started
    const found = [{ address: '127.0.0.1', family: 4 as const }]
    const nameResolver = {
      createLookup: () => () => new Promise<typeof found>((resolve) => (connect = () => resolve(found))),
    }
    const policy = createCallbacksPolicy(['127.0.0.1/32'])
    const own = createOutboundPools({ ...limits, policy, ownServices: [], nameResolver })
    const pool = own.getPool('project', url.replace('127.0.0.1', 'backend.example'))
    expect(await failureOf(pool, { timeoutMs: 50 })).toEqual(['connect', 'the upstream cannot be reached'])
    // The call occupies its slot until the connection is open.
    expect(pool.inFlight).toBe(1)
    connect()
    await expect.poll(() => pool.inFlight).toBe(0)
    expect(started.bytes().length).toBe(0)
    await own.close()
  })

  test.each<Partial<SendRequest>>([
    { headers: ['x', 'a\r\nb: c'] },
    { headers: ['x', 'snow \u2603'] },
    { headers: ['x y', 'a'] },
    { headers: ['x'] },
    { headers: ['Transfer-Encoding', 'chunked'] },
    { headers: ['content-length', '1'] },
    { headers: ['Host', 'other.example'] },
    { headers: ['expect', '100-continue'] },
    { path: '' },
    { path: 'callback' },
    { path: '/a b' },
    { path: '/a\r\n' },
    { path: 'http://other.example/' },
  ])('is one of the connection: %j cannot be sent', async (options) => {
    const started = await upstream(ok)
    const { url } = started
    const pool = poolOf(url)
    // More attempts than connections prove that a failed attempt does not cost the pool a connection.
    for (let i = 0; i < limits.maxPerOrigin + 1; i++)
      expect(await failureOf(pool, options)).toEqual([
        'connect',
        'the request cannot be sent to the upstream',
      ])
    expect([pool.inFlight, started.bytes().length]).toEqual([0, 0])
    expect(await sendTo(pool)).toMatchObject({ status: 200 })
  })

  test('is one of the connection: too many calls, of this upstream or of all', async () => {
    const { url, requests } = await upstream(() => undefined, { when: 'head' })
    const given = new AbortController()
    const pool = poolOf(url)
    const waiting = [1, 2].map(() => failureOf(pool, { signal: given.signal }))
    expect(await failureOf(pool)).toEqual(['connect', 'too many calls to the upstream are in flight'])
    const policy = createCallbacksPolicy(['127.0.0.1/32'])
    const few = createOutboundPools({
      ...limits,
      maxSockets: 2,
      policy,
      ownServices: [],
      nameResolver: createNameResolver(),
    })
    const held = failureOf(few.getPool('project', url), { signal: given.signal })
    expect(await failureOf(few.getPool('project', url))).toEqual([
      'connect',
      'too many connections to callback URLs are open; try again',
    ])
    await expect.poll(() => requests.length).toBe(3)
    given.abort()
    for (const failure of await Promise.all([...waiting, held]))
      expect(failure).toEqual(['exchange', 'the call was aborted'])
    await few.close()
  })

  test('is one of the connection: it was given up before', async () => {
    const started = await upstream(ok)
    const { url } = started
    expect(await failureOf(poolOf(url), { signal: AbortSignal.abort() })).toEqual([
      'connect',
      'the call was aborted',
    ])
    expect([poolOf(url).inFlight, started.bytes().length]).toEqual([0, 0])
  })
})

describe('a failure after something was sent', () => {
  test('is one of the exchange: no answer in time', async () => {
    const { url, requests, sockets } = await upstream(() => undefined)
    const pool = poolOf(url)
    expect(await failureOf(pool, { timeoutMs: 3_000 })).toEqual(['exchange', 'the upstream timed out'])
    expect(requests).toHaveLength(1)
    await expect.poll(() => [sockets.size, pool.inFlight]).toEqual([0, 0])
  })

  test.each([
    [
      'the connection ends',
      (socket: Socket) => void socket.end(),
      'the upstream response is incomplete or invalid',
    ],
    [
      'it is reset',
      (socket: Socket) => void socket.resetAndDestroy(),
      'the upstream response is incomplete or invalid',
    ],
    ['what comes is not HTTP', writes('nonsense\r\n\r\n'), 'the upstream response is incomplete or invalid'],
    [
      'the head is too large',
      writes(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`),
      'the upstream response headers are too large',
    ],
    [
      'interim answers do not end',
      writes('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_001)),
      'the upstream sent too many interim responses',
    ],
  ] satisfies [string, Play, string][])('is one of the exchange: %s', async (_why, play, reason) => {
    const { url } = await upstream(play)
    const pool = poolOf(url)
    expect(await failureOf(pool)).toEqual(['exchange', reason])
    await expect.poll(() => pool.inFlight).toBe(0)
  })

  test('is one of the exchange: it was given up', async () => {
    const { url, requests } = await upstream(() => undefined)
    const given = new AbortController()
    const failure = failureOf(poolOf(url), { signal: given.signal })
    await expect.poll(() => requests.length).toBe(1)
    given.abort()
    expect(await failure).toEqual(['exchange', 'the call was aborted'])
  })

  test('is one of the exchange: the pools are closed', async () => {
    const { url, requests } = await upstream(() => undefined)
    const failure = failureOf(poolOf(url))
    await expect.poll(() => requests.length).toBe(1)
    await pools.close()
    expect(await failure).toEqual(['exchange', 'the service is closing its connections'])
  })
})
