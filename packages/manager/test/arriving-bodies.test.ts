// Tests request bodies that stall, and bodies that the service does not read.
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { startRequest, headOf, keepSending, summaryOf } from './kit/partial-requests.ts'
import { statusOf } from '@manager/harness/http-messages.ts'
import { boundary, formOf, formPart, piletPath } from '@manager/harness/pilets.ts'
import { useProject } from './kit/project.ts'
import { openRaw } from './kit/raw-socket.ts'

const mebibyte = 1_048_576
const maxUploadBytes = 9 * mebibyte
const { service, project, member } = useProject({
  env: { SVC_PILETS_MAX_UPLOAD_BYTES: String(maxUploadBytes) },
})
const json = { 'content-type': 'application/json' }
const form = { 'content-type': `multipart/form-data; boundary=${boundary}` }
let tester: Person
beforeAll(async () => {
  tester = await member('tester', 'tester')
})
const uploadPath = (name: string): string => piletPath({ projectId: project.id, name, version: '1.0.0' })
const late = 'timed out before the complete request arrived; send it again'

describe('a body that stops arriving', () => {
  let impatient: TestApp
  beforeAll(async () => {
    impatient = await startTestApp({ database: service.database, transport: { bodyTimeoutMs: 500 } })
  })
  afterAll(() => impatient.close())

  test('is answered 408 after a while; an upload may take longer', async () => {
    const whole = formOf(formPart({}, 'bytes'))
    const upload = await startRequest(impatient.url, {
      path: uploadPath('slow'),
      headers: { ...headersOf(tester), ...form },
      length: `content-length: ${whole.length}`,
    })
    upload.socket.write(whole.subarray(0, 20))
    const stalled = await startRequest(impatient.url, {
      path: '/query',
      headers: { ...headersOf(tester), ...json },
      length: 'content-length: 100',
    })
    stalled.send('{"query":')
    expect((await stalled.completeResponses(1)).map(summaryOf)).toEqual([[408, late, 'no-store']])
    await stalled.waitUntil(() => stalled.ended() !== null)
    expect(upload.ended()).toBe(null)
    upload.socket.write(whole.subarray(20))
    expect((await upload.completeResponses(1)).map(statusOf)).toEqual([200])
    upload.socket.destroy()
  })

  test('after its answer keeps the connection no longer than before it', async () => {
    const refused = await startRequest(impatient.url, {
      path: '/query',
      headers: json,
      length: 'content-length: 100',
    })
    expect((await refused.completeResponses(1)).map(statusOf)).toEqual([401])
    await refused.waitUntil(() => refused.ended() !== null)
    expect(refused.ended()).not.toBe(null)
  })

  test('does not hold up the end of the service', async () => {
    const ending = await startTestApp({ database: service.database, transport: { bodyTimeoutMs: 500 } })
    const head = { headers: { ...headersOf(tester), ...json }, length: 'content-length: 100' }
    const stalled = await startRequest(ending.url, { path: '/query', ...head })
    await expect.poll(() => inflight(ending)).toBe(1)
    await ending.close()
    expect((await stalled.completeResponses(1)).map(summaryOf)).toEqual([[408, late, 'no-store']])
  })
})

const inflight = async ({ world }: TestApp): Promise<number> =>
  Number((await world.metrics.registry.getSingleMetricAsString('svc_http_inflight')).trim().split(' ').at(-1))

describe('what is no request', () => {
  test.each([
    ['text', 'hello\r\n\r\n', [400, 'the request is malformed', 'no-store']],
    [
      'a head that is too large',
      `GET /health HTTP/1.1\r\nhost: h\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`,
      [431, 'the request headers exceed 16384 bytes; send fewer or shorter headers', 'no-store'],
    ],
  ])('%s is told so', async (_what, bytes, expected) => {
    const raw = await openRaw(service.url)
    raw.send(bytes)
    expect((await raw.completeResponses(1)).map(summaryOf)).toEqual([expected])
  })

  test('an expectation that nobody knows is answered 417, and its body is not waited for', async () => {
    const raw = await startRequest(service.url, {
      path: '/query',
      headers: { expect: 'wonders' },
      length: 'content-length: 4000000000',
    })
    await raw.waitUntil(() => raw.ended() !== null)
    expect(raw.responses({ isOver: true }).map(statusOf)).toEqual([417])
  })
})

describe('a body that nobody reads', () => {
  test('a request without a body that is refused at the gate leaves its connection open', async () => {
    const raw = await openRaw(service.url)
    for (let round = 1; round < 4; round++) {
      raw.send('GET /api/proxy/ready HTTP/1.1\r\nHost: x\r\n\r\n')
      const answers = await raw.completeResponses(round)
      expect(answers.map(statusOf)).toEqual(Array(round).fill(401))
    }
    expect(raw.received().toString('latin1')).not.toContain('connection: close')
    raw.socket.destroy()
  })

  const [announced, chunked] = ['content-length: 4000000000', 'transfer-encoding: chunked']
  const headersFor = (who: string): Record<string, string> => ({
    ...(who === 'nobody' ? {} : headersOf(tester)),
    ...(who === 'uploader' ? form : who === 'writer' ? { 'content-type': 'text/plain' } : json),
  })
  test.each([
    ['refused at the gate', 401, '/query', 'nobody', announced],
    ['refused at the gate, in chunks', 401, '/query', 'nobody', chunked],
    ['too large', 413, '/query', 'tester', announced],
    ['of a type that is not taken', 415, '/query', 'writer', announced],
    ['without a route', 413, '/nowhere', 'tester', announced],
    ['with an address that cannot be read', 400, '/%', 'nobody', chunked],
    ['of an upload, too large', 413, 'upload', 'uploader', announced],
    ['of an upload, too large in chunks', 413, 'upload', 'uploader', chunked],
  ])(
    '%s: the response says that the connection ends, and the rest is dropped up to a limit',
    async (_what, status, path, who, length) => {
      const connected = new Promise<Socket>((resolve) =>
        service.app.server.server.once('connection', resolve),
      )
      const raw = await startRequest(service.url, {
        path: path === 'upload' ? uploadPath('large') : path,
        headers: headersFor(who),
        length,
      })
      const taken = await connected
      // In a chunked upload, the service detects the excess only after it has received as many bytes as the limit
      // allows.
      if (path !== 'upload' || length === announced) await raw.completeResponses(1)
      const limit = path === 'upload' ? 3 * maxUploadBytes : service.config.graphqlMaxBodyBytes
      await keepSending(raw, 10 * limit, length === chunked)
      await raw.waitUntil(() => raw.ended() !== null)
      expect(raw.received().toString('latin1', 0, 13)).toBe(`HTTP/1.1 ${status} `)
      expect(raw.received().toString('latin1')).toContain('\r\nconnection: close\r\n')
      await expect.poll(() => taken.destroyed).toBe(true)
      expect(taken.bytesRead).toBeLessThan(limit + 4 * mebibyte)
    },
  )

  test.each([
    ['of a refused query', '/query', json, 900_000],
    ['of a refused upload', 'upload', form, 8 * mebibyte],
  ] as const)('%s is read to its end, and the connection goes on', async (_what, path, headers, bytes) => {
    const head = {
      path: path === 'upload' ? uploadPath('refused') : path,
      headers,
      length: `content-length: ${bytes}`,
    }
    const raw = await startRequest(service.url, head)
    expect((await raw.completeResponses(1)).map(statusOf)).toEqual([401])
    for (let round = 2; round < 6; round++) {
      raw.socket.write(Buffer.alloc(bytes, ' '))
      raw.send(headOf(head))
      expect((await raw.completeResponses(round)).map(statusOf)).toEqual(Array(round).fill(401))
    }
    raw.socket.destroy()
  })
})
