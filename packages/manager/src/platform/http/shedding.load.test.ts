// Tests that the service rejects requests while its event loop lags.
import fastify from 'fastify'
import { expect, test } from 'vitest'
import { createMetrics } from '../metrics.ts'
import { shedWhenOverloaded } from './shedding.ts'

function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

test('a loop that lags refuses requests; what the start took refuses none', { timeout: 60_000 }, async () => {
  const server = fastify()
  shedWhenOverloaded(server, {
    metrics: createMetrics('x'),
  })
  server.get('/', () => 'served')
  await pause()
  block(2_500)
  await pause()
  block(2_500)
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  const status = async (): Promise<number> => (await fetch(url)).status
  expect(await status()).toBe(200)
  await pause()
  block(4_000)
  await pause()
  expect(await status()).toBe(503)
  await expect.poll(status, { timeout: 30_000 }).toBe(200)
  await server.close()
})
