// Tests that a waiting gateway call does not block calls to other endpoints.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../kit/gateway.ts'

let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway({
    env: {
      SVC_ESB_MAX_CALLS_PER_ORIGIN: '4',
    },
  })
})
afterAll(async () => {
  await gateway.close()
})

test('a first call that waits for a lock holds up no other endpoint, and not for long', async () => {
  const [warm, locked] = [
    await gateway.endpoint({ url: gateway.upstream.url }),
    await gateway.endpoint({ url: gateway.upstream.url }),
  ]
  expect((await gateway.call(warm.path)).status).toBe(200)
  const client = await gateway.service.sql.connect()
  await client.query('begin')
  await client.query('select 1 from endpoints where id = $1 for update', [locked.id])
  try {
    const waiting = Promise.all(Array.from({ length: 5 }, () => gateway.call(locked.path)))
    const started = performance.now()
    expect((await gateway.call(warm.path)).status).toBe(200)
    expect(performance.now() - started).toBeLessThan(900)
    expect((await waiting).map(({ status }) => status)).toEqual([503, 503, 503, 503, 503])
    expect(performance.now() - started).toBeLessThan(3_000)
  } finally {
    await client.query('rollback')
    client.release()
  }
  expect((await gateway.call(locked.path)).status).toBe(200)
})
