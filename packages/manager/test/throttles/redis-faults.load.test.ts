// Tests throttles while Redis hangs, is flushed or is killed: the service continues to respond and to enforce
// the limits.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RedisServer, startRedis } from '@manager/harness/engines/redis.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { bearer, call } from '@manager/harness/credentials.ts'
import { startBlackholeProxy } from '../kit/blackhole-proxy.ts'
import { seedMachineUser, seedProject } from '@manager/harness/seed.ts'

let redis: RedisServer
let one: TestApp
let other: TestApp

beforeAll(async () => {
  redis = await startRedis(await freePort())
  // Trust forwarded addresses from loopback, so that a test can act as many clients.
  const env = { SVC_REDIS_URL: redis.url, SVC_PROXY_TRUSTED_CIDRS: '127.0.0.0/8' }
  one = await startTestApp({ env })
  other = await startTestApp({ env, database: one.database })
  await waitUntil(() => one.world.redis.isUp() && other.world.redis.isUp())
})
afterAll(async () => {
  await other.close()
  await one.close()
  await redis.stop()
})

async function waitUntil(condition: () => boolean, maxMs = 5_000): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > maxMs / 25) throw new Error('timed out waiting for the condition')
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

let clients = 0
const newClient = (): string => `198.51.100.${++clients}`

async function fail(service: TestApp, client: string): Promise<{ status: number; ms: number }> {
  const startedAt = performance.now()
  const { status, headers } = await call(service.url, '/esb/x', {
    ...bearer('x'.repeat(43)),
    'x-forwarded-for': client,
  })
  const lacksRetryAfter = status === 429 && !(Number(headers.get('retry-after')) >= 1)
  if (lacksRetryAfter) throw new Error('429 without Retry-After')
  return { status, ms: performance.now() - startedAt }
}

async function failTimes(service: TestApp, client: string, times: number) {
  const answers = []
  for (let i = 0; i < times; i++) answers.push(await fail(service, client))
  return answers
}

const statuses = (answers: { status: number }[]): number[] => answers.map(({ status }) => status)
const median = (answers: { ms: number }[]): number =>
  answers.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.floor(answers.length / 2)] as number
const refused = (count: number): number[] => Array.from({ length: count }, () => 401)

describe('a connection to Redis that goes dark', () => {
  test('is given up and made anew', async () => {
    const proxy = await startBlackholeProxy({ host: '127.0.0.1', port: redis.port })
    const service = await startTestApp({ env: { SVC_REDIS_URL: `redis://127.0.0.1:${proxy.port}` } })
    await waitUntil(() => service.world.redis.isUp())
    proxy.blackhole()
    await waitUntil(() => !service.world.redis.isUp())
    await waitUntil(() => service.world.redis.isUp(), 10_000)
    expect(await service.world.redis.eval('return 1', [])).toBe(1)
    await service.close()
    await proxy.close()
  })
})

describe('throttles', () => {
  // Retry with a new client if the machine was so busy that Redis seemed unreachable.
  const retryTwice = { retry: 2 }

  test('[machine-auth.counters-redis] failures at two replicas add up', retryTwice, async () => {
    const client = newClient()
    expect(statuses(await failTimes(one, client, 6))).toEqual(refused(6))
    expect(statuses(await failTimes(other, client, 5))).toEqual([...refused(4), 429])
    expect((await fail(one, client)).status).toBe(429)
  })

  test(
    '[machine-auth.throttle-valid-passes] a success at one replica ends what the other counted and its block',
    retryTwice,
    async () => {
      const project = await seedProject(one.sql, `clearing-${clients}`)
      const { token } = await seedMachineUser(one.sql, project)
      for (const failures of [9, 10]) {
        const client = newClient()
        expect(statuses(await failTimes(one, client, failures))).toEqual(refused(failures))
        const good = { ...bearer(token), 'x-forwarded-for': client }
        expect((await call(other.url, '/api/machine/check', good)).body.authenticated).toBe(true)
        // The success is sent to Redis in a batch, and a replica that blocks a client checks again only within 1 s.
        await new Promise((resolve) => setTimeout(resolve, 1_300))
        expect(statuses(await failTimes(one, client, 9))).toEqual(refused(9))
      }
    },
  )

  test('[machine-auth.counters-redis] Redis hangs: one short wait, then none; each replica counts for itself', async () => {
    const calm = await failTimes(one, newClient(), 9)
    const client = newClient()
    expect(statuses(await failTimes(one, client, 6))).toEqual(refused(6))
    redis.signal('SIGSTOP')
    const hung = [...(await failTimes(one, client, 5)), ...(await failTimes(one, newClient(), 9))]
    // The earlier failures on this replica still count: ten in total, then the block.
    expect(statuses(hung)).toEqual([...refused(4), 429, ...refused(9)])
    const [first = { ms: Number.NaN }, ...later] = hung
    process.stdout.write(
      `redis hung: first=${first.ms.toFixed(1)} later=${median(later).toFixed(1)} calm=${median(calm).toFixed(1)} ms\n`,
    )
    expect(first.ms).toBeLessThan(median(calm) + 150)
    expect(median(later)).toBeLessThan(median(calm) + 25)
    // The other replica has not seen this client fail, and cannot learn about it now.
    expect((await fail(other, client)).status).toBe(401)
    redis.signal('SIGCONT')
    await waitUntil(() => one.world.redis.isUp() && other.world.redis.isUp())
    expect((await fail(one, client)).status).toBe(429)
  })

  test('[machine-auth.counters-redis] Redis is emptied: who counted the failures goes on blocking', async () => {
    const client = newClient()
    expect(statuses(await failTimes(one, client, 11))).toEqual([...refused(10), 429])
    const half = newClient()
    expect(statuses(await failTimes(one, half, 6))).toEqual(refused(6))
    await one.world.redis.eval("redis.call('FLUSHALL') return 1", [])
    expect((await fail(one, client)).status).toBe(429)
    expect(statuses(await failTimes(one, half, 5))).toEqual([...refused(4), 429])
    // After the flush, each replica knows only the failures that it counted itself.
    expect((await fail(other, client)).status).toBe(401)
  })

  test('[machine-auth.counters-redis] Redis is killed: answers and limits go on', async () => {
    const client = newClient()
    expect(statuses(await failTimes(one, client, 6))).toEqual(refused(6))
    redis.signal('SIGKILL')
    const gone = await failTimes(one, client, 6)
    expect(statuses(gone)).toEqual([...refused(4), 429, 429])
    for (const { ms } of gone) expect(ms).toBeLessThan(1_000)
    expect(statuses(await failTimes(other, newClient(), 11))).toEqual([...refused(10), 429])
    const { body } = await call(one.url, '/health', { 'x-proxy-auth': one.config.proxySecret ?? '' })
    expect(body).toMatchObject({ status: 'ready', degraded: ['redis'] })
  })
})
