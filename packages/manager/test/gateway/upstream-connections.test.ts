// Upstreams with the wrong certificate, at the wrong address, or that answer before they are asked.
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createCertificate } from '../kit/certificates.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { type GatewayScene, gatewayScene } from '../kit/gateway.ts'
import { type Message, statusOf, valuesOf } from '../kit/http-messages.ts'
import { openRaw } from '../kit/raw-socket.ts'
import {
  type Play,
  type RawUpstream,
  type RawUpstreamOptions,
  startRawUpstream,
} from '../kit/raw-upstream.ts'

const authority = createCertificate('authority', [])
const timeoutMs = 2_000
let service: TestApp
let scene: GatewayScene
const upstreams: RawUpstream[] = []
beforeAll(async () => {
  // As NODE_EXTRA_CA_CERTS does for a process.
  setDefaultCACertificates([...getCACertificates('default'), authority.cert])
  service = await startTestApp({ env: { SVC_ESB_FORWARD_TIMEOUT: `${timeoutMs}ms` } })
  scene = await gatewayScene(service)
})
afterAll(async () => {
  for (const upstream of upstreams) await upstream.close()
  await service.close()
})

async function start(play: Play, options?: RawUpstreamOptions): Promise<RawUpstream> {
  const upstream = await startRawUpstream(play, options)
  upstreams.push(upstream)
  return upstream
}
const answering =
  (text: string): Play =>
  (socket) =>
    void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`)

/** The answer to a call, and what the log says of it. */
async function call(url: string, more = '\r\n') {
  const { id, path } = await scene.endpoint({ url })
  const raw = await openRaw(service.url)
  raw.send(`POST ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${scene.machine.token}\r\n${more}`)
  const [answer] = (await raw.wholeAnswers(1)) as [Message]
  const [row, ...others] = await scene.logged(id)
  expect(others).toEqual([])
  return { raw, answer, outcome: [statusOf(answer), row?.response_status, row?.failure] }
}

test('[esb.forward-failure] a certificate must be trusted, in time and for the host', async () => {
  const host = '127.0.0.1'
  const certificates = {
    good: createCertificate('good', [host], { issuer: authority }),
    selfSigned: createCertificate('alone', [host]),
    otherName: createCertificate('other', ['other.example'], { issuer: authority }),
    expired: createCertificate('old', [host], { issuer: authority, validUntil: new Date('2021-01-01') }),
  }
  const outcomes: Record<string, unknown> = {}
  for (const [name, { cert, key }] of Object.entries(certificates)) {
    const { url } = await start(answering('secret'), { tls: { cert, key } })
    outcomes[name] = (await call(url)).outcome
  }
  expect(outcomes).toEqual({
    good: [200, 200, null],
    selfSigned: [502, 502, 'the certificate of the upstream is not trusted'],
    otherName: [502, 502, 'the certificate of the upstream is for another name'],
    expired: [502, 502, 'the certificate of the upstream has expired'],
  })
  // No byte of a call is shown to whoever is not the upstream.
  expect(upstreams.splice(0).map(({ requests }) => requests.length)).toEqual([1, 0, 0, 0])
})

test('[esb.egress-metadata] neither an endpoint nor a redirect leads to a metadata service', async () => {
  for (const url of [
    'http://169.254.169.254/latest',
    'http://[fe80::1]/',
    'http://[::ffff:169.254.169.254]/',
  ]) {
    const started = performance.now()
    const { outcome } = await call(url)
    expect(outcome).toEqual([502, 502, 'the address of the upstream is not allowed'])
    expect(performance.now() - started).toBeLessThan(timeoutMs)
  }
  const { url, requests } = await start(
    (socket) =>
      void socket.write(
        'HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n',
      ),
  )
  const { answer, outcome } = await call(url)
  expect(outcome).toEqual([302, 302, null])
  expect(valuesOf(answer, 'location')).toEqual(['http://169.254.169.254/'])
  expect(requests).toHaveLength(1)
})

test.each(['fin', 'reset', 'stay'])(
  'an answer before the body is complete is passed on, and the rest is not waited for: %s',
  async (end) => {
    const upstream = await start(
      (socket) => {
        socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\nhello', () => {
          if (end === 'fin') socket.end()
          if (end === 'reset') setTimeout(() => socket.resetAndDestroy(), 50)
        })
      },
      { when: 'head' },
    )
    const { raw, answer, outcome } = await call(upstream.url, 'Content-Length: 1000\r\n\r\nbegun')
    expect(outcome).toEqual([413, 413, null])
    expect([answer.body.toString(), valuesOf(answer, 'connection')]).toEqual(['hello', ['close']])
    await raw.until(() => false)
    expect(raw.ended()).toBe('end')
    await vi.waitFor(() => expect(upstream.sockets.size).toBe(0), { timeout: 1_500 })
  },
)

test('an answer that nobody asked for is nobody’s', async () => {
  let count = 0
  const upstream = await start((socket, request) => {
    count++
    answering(`answer ${count}`)(socket, request)
    setTimeout(() => answering('unasked')(socket, request), 20)
  })
  const { path } = await scene.endpoint({ url: upstream.url })
  const texts: string[] = []
  for (let i = 0; i < 3; i++) {
    texts.push(await (await scene.call(path)).text())
    // The connection is given up at the first byte of it.
    await vi.waitFor(() => expect(upstream.sockets.size).toBe(0), { timeout: 1_500, interval: 5 })
  }
  expect(texts).toEqual(['answer 1', 'answer 2', 'answer 3'])
})

test('[esb.forward-failure] an answer that breaks off is reset for a caller of HTTP/1.0, to whom its end would look whole', async () => {
  const { url } = await start((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n')
    setTimeout(() => socket.resetAndDestroy(), 50)
  })
  const { path } = await scene.endpoint({ url })
  const raw = await openRaw(service.url)
  raw.send(`GET ${path} HTTP/1.0\r\nHost: h\r\nAuthorization: Bearer ${scene.machine.token}\r\n\r\n`)
  await expect.poll(() => raw.ended()).toBe('reset')
})
