// Tests upstreams with an invalid certificate or a forbidden address, and upstreams that respond without a request.
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCertificate } from '@manager/harness/certificates.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { type GatewayScene, gatewayScene } from '../kit/gateway.ts'
import { valuesOf } from '@manager/harness/http-messages.ts'
import { openRaw } from '../kit/raw-socket.ts'
import type { RawUpstream } from '@manager/harness/raw-upstream.ts'
import { metadataUrls, respondWith, upstreamConnections } from '../kit/upstream-connections.ts'

const authority = createCertificate('authority', [])
let service: TestApp
let scene: GatewayScene
const upstreams: RawUpstream[] = []
const trusted = getCACertificates('default')
beforeAll(async () => {
  // Has the same effect as NODE_EXTRA_CA_CERTS for a process.
  setDefaultCACertificates([...trusted, authority.cert])
  service = await startTestApp()
  scene = await gatewayScene(service)
})
afterAll(async () => {
  for (const upstream of upstreams) await upstream.close()
  await service.close()
  setDefaultCACertificates(trusted)
})

const { start, call, expectEarlyResponseForwarded, expectUnsolicitedDropped } = upstreamConnections(() => ({
  service,
  scene,
  upstreams,
}))

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
    const { url } = await start(respondWith('secret'), { tls: { cert, key } })
    outcomes[name] = (await call(url)).outcome
  }
  expect(outcomes).toEqual({
    good: [200, 200, null],
    selfSigned: [502, 502, 'the certificate of the upstream is not trusted'],
    otherName: [502, 502, 'the certificate of the upstream is for another name'],
    expired: [502, 502, 'the certificate of the upstream has expired'],
  })
  // A server that is not the upstream must not receive any byte of a call.
  expect(upstreams.splice(0).map(({ requests }) => requests.length)).toEqual([1, 0, 0, 0])
})

test('[esb.egress-metadata] neither an endpoint nor a redirect leads to a metadata service', async () => {
  for (const url of metadataUrls) {
    const { outcome } = await call(url)
    expect(outcome).toEqual([502, 502, 'the address of the upstream is not allowed'])
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
  (end) => expectEarlyResponseForwarded(end, 60_000),
)

test('an answer that nobody asked for is nobody’s', async () => {
  await expectUnsolicitedDropped(60_000)
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
