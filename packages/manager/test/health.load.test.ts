// Tests how quickly the health routes report that PostgreSQL has stopped.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Postgres } from '@manager/harness/engines/postgres.ts'
import type { RedisServer } from '@manager/harness/engines/redis.ts'
import type { TestApp } from './kit/app.ts'
import { get, startWithDedicatedEngines, proxyHeaders } from './kit/dedicated-engines.ts'

let postgres: Postgres
let redis: RedisServer
let service: TestApp
let healthUrl: string
let close: (running: RedisServer) => Promise<void>

beforeAll(async () => {
  ;({ postgres, redis, service, healthUrl, close } = await startWithDedicatedEngines())
})
afterAll(() => close(redis))

/** Polls until the response has the status, and returns the elapsed time. */
async function until(
  status: number,
  url: string,
  isRight = (_body: Record<string, unknown>) => true,
): Promise<number> {
  const start = performance.now()
  for (;;) {
    const answer = await get(url, proxyHeaders)
    if (answer.status === status && isRight(answer.body)) return performance.now() - start
    if (performance.now() - start > 10_000) throw new Error(`${url} still returns ${answer.status}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

describe('health', () => {
  test('within three seconds, and it is told at once that the process lives', async () => {
    postgres.stop('immediate')
    const flips = await Promise.all([until(503, `${healthUrl}/readyz`), until(503, `${service.url}/health`)])
    expect(Math.max(...flips)).toBeLessThan(3_000)
    const start = performance.now()
    const alive = await get(`${healthUrl}/healthz`)
    const aliveMs = performance.now() - start
    expect(alive.status).toBe(200)
    expect(aliveMs).toBeLessThan(500)
    postgres.start()
    await Promise.all([until(200, `${healthUrl}/readyz`), until(200, `${service.url}/health`)])
  })
})
