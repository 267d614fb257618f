// Tests which upstream connections are closed, and how quickly.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { type GatewayScene, gatewayScene } from '../kit/gateway.ts'
import type { RawUpstream } from '@manager/harness/raw-upstream.ts'
import { metadataUrls, upstreamConnections } from '../kit/upstream-connections.ts'

const timeoutMs = 2_000
let service: TestApp
let scene: GatewayScene
const upstreams: RawUpstream[] = []
beforeAll(async () => {
  service = await startTestApp({ env: { SVC_ESB_FORWARD_TIMEOUT: `${timeoutMs}ms` } })
  scene = await gatewayScene(service)
})
afterAll(async () => {
  for (const upstream of upstreams) await upstream.close()
  await service.close()
})

const { call, expectEarlyResponseForwarded, expectUnsolicitedDropped } = upstreamConnections(() => ({
  service,
  scene,
  upstreams,
}))

test.each(['fin', 'reset', 'stay'])(
  'an answer before the body is complete is passed on, and the rest is not waited for: %s',
  (end) => expectEarlyResponseForwarded(end, 1_500),
)

test('an answer that nobody asked for is nobody’s', async () => {
  await expectUnsolicitedDropped(1_500)
})

test('nobody waits for a metadata service', async () => {
  for (const url of metadataUrls) {
    const started = performance.now()
    expect((await call(url)).outcome).toEqual([502, 502, 'the address of the upstream is not allowed'])
    expect(performance.now() - started).toBeLessThan(timeoutMs)
  }
})
