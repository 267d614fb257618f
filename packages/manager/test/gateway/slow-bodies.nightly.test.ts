// Tests that a caller that waits for the upstream does not count as slow.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Gateway } from '../kit/gateway.ts'
import { startImpatientGateway, timeoutMs } from '../kit/slow-bodies.ts'

describe('a body has to come', () => {
  let gateway: Gateway
  beforeAll(async () => {
    gateway = await startImpatientGateway()
  })
  afterAll(() => gateway.close())
  afterEach(() => gateway.upstream.reset())

  test('and a caller that is held up by the upstream is not slow', async () => {
    const { path } = await gateway.endpoint({ url: gateway.upstream.url })
    gateway.upstream.handle((request, response) => {
      setTimeout(() => {
        request.resume()
        request.on('end', () => response.end('all'))
      }, 2 * timeoutMs)
    })
    const answer = await gateway.send(path, { method: 'POST', body: Buffer.alloc(10 * 1_048_576, 'x') })
    expect([answer.status, answer.text]).toEqual([200, 'all'])
  })
})
