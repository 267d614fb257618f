// The throttle of failed machine credentials: what counts, who is counted, how long a block lasts, and who shares it.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, type TestAppOptions, startTestApp } from '../kit/app.ts'
import { type JsonAnswer, basicValue, bearer, call, throughProxy } from '../kit/credentials.ts'
import { startDarkProxy } from '../kit/dark-proxy.ts'
import { redisUrl } from '../kit/engines.ts'
import { freshClient } from '../kit/machines.ts'
import { type SeededProject, seedMachineUser, seedProject } from '../kit/seed.ts'

const blocked = 'too many failed authentication attempts'
const machinePath = '/api/machine/nothing'
const noRedis = { SVC_REDIS_URL: 'redis://127.0.0.1:1' }

let service: TestApp
let project: SeededProject
let good: string
const others: TestApp[] = []

beforeAll(async () => {
  service = await startTestApp()
  project = await seedProject(service.sql, 'main')
  good = (await seedMachineUser(service.sql, project)).token
  await redisAnswers(service)
})
afterAll(async () => {
  for (const app of others) await app.close()
  await service.close()
})

/** Another replica on the same database. */
async function startReplica(options: TestAppOptions = {}): Promise<TestApp> {
  const app = await startTestApp({ ...options, database: service.database })
  others.push(app)
  return app
}
/** Until the first answer of Redis a replica counts for itself. */
const redisAnswers = (app: TestApp): Promise<void> => until(() => app.world.redis.isUp())
async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !isSo(); tries++) await pause(10)
  expect(isSo()).toBe(true)
}
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

type Headers = Record<string, string>
const wrong = (): Headers => bearer(randomBytes(32).toString('base64url'))
/** One request with a wrong token, as the proxy forwards it for this client. */
const fail = (app: TestApp, client: string, path = machinePath): Promise<JsonAnswer> =>
  call(app.url, path, { ...throughProxy(client), ...wrong() })
const succeed = (app: TestApp, client: string): Promise<JsonAnswer> =>
  call(app.url, machinePath, { ...throughProxy(client), ...bearer(good) })
/** The statuses of so many requests with wrong tokens, one after the other. */
async function statuses(count: number, send: () => Promise<{ status: number }>): Promise<number[]> {
  const seen: number[] = []
  for (let i = 0; i < count; i++) seen.push((await send()).status)
  return seen
}
const refused = (count: number): number[] => Array.from({ length: count }, () => 401)
const block = async (app: TestApp, client: string): Promise<void> =>
  expect(await statuses(11, () => fail(app, client))).toEqual([...refused(10), 429])

describe('what is counted', () => {
  test('[machine-auth.throttle] [machine-auth.retry-after] after 10 failures the client is answered 429 on machine and ESB addresses, with the seconds to wait', async () => {
    const client = freshClient()
    const paths = [machinePath, '/esb/a/b', '/api/machine/check/x', '/esb/']
    for (let i = 0; i < 10; i++) expect((await fail(service, client, paths[i % 4])).status).toBe(401)
    for (const path of paths) {
      const { status, body, headers } = await fail(service, client, path)
      expect([status, body.error]).toEqual([429, blocked])
      const seconds = headers.get('retry-after') ?? ''
      expect(seconds).toMatch(/^[1-9]\d?$/)
      expect(Number(seconds)).toBeLessThanOrEqual(60)
      expect(Number(seconds)).toBeGreaterThan(45)
    }
    expect((await fail(service, freshClient())).status).toBe(401)
  })

  test('[machine-auth.throttle-valid-passes] a good token passes while its client is blocked, and clears failures, block and doubling', async () => {
    const client = freshClient()
    for (let round = 0; round < 2; round++) {
      await block(service, client)
      expect(Number((await fail(service, client)).headers.get('retry-after'))).toBeLessThanOrEqual(60)
      expect((await succeed(service, client)).status).toBe(404)
    }
    expect(await statuses(9, () => fail(service, client))).toEqual(refused(9))
    const answer = await call(service.url, '/api/machine/check', { ...throughProxy(client), ...bearer(good) })
    expect(answer.body.authenticated).toBe(true)
    expect(await statuses(9, () => fail(service, client))).toEqual(refused(9))
  })

  test('[machine-auth.throttle-missing-header] neither a missing header nor a wrong scheme counts, and neither is answered 429', async () => {
    const client = freshClient()
    const free: Headers[] = [{}, { authorization: basicValue('a', 'b') }, { authorization: 'Bearer' }]
    const tryFree = async (): Promise<number[]> => {
      const seen: number[] = []
      for (const headers of free)
        for (const path of [machinePath, '/esb/a/b', '/api/machine/check'])
          seen.push((await call(service.url, path, { ...throughProxy(client), ...headers })).status)
      return seen
    }
    const expected = [401, 401, 200, 401, 401, 401, 401, 401, 401]
    for (let i = 0; i < 3; i++) expect(await tryFree()).toEqual(expected)
    await block(service, client)
    expect(await tryFree()).toEqual(expected)
    expect((await fail(service, client)).status).toBe(429)
  })

  test('[machine-auth.throttle] failures on check count too, while check itself goes on answering 200', async () => {
    const client = freshClient()
    const check = () => fail(service, client, '/api/machine/check')
    for (let i = 0; i < 10; i++) expect((await check()).status).toBe(200)
    expect((await fail(service, client)).status).toBe(429)
    const { status, body } = await check()
    expect([status, body]).toEqual([200, { authenticated: false, message: blocked }])
  })
})

describe('how long a block lasts', () => {
  test('[machine-auth.throttle] by default 60 s, then twice as long each time up to 15 min', async () => {
    let now = Date.now()
    // Redis has a clock of its own; without it time is what the test says.
    const patient = await startReplica({ env: noRedis, world: { clock: { now: () => new Date(now) } } })
    const client = freshClient()
    for (const seconds of [60, 120, 240, 480, 900, 900]) {
      await block(patient, client)
      expect((await fail(patient, client)).headers.get('retry-after')).toBe(String(seconds))
      now += seconds * 1_000 - 1
      const last = await fail(patient, client)
      expect([last.status, last.headers.get('retry-after')]).toEqual([429, '1'])
      now += 1
    }
    const { values } = await patient.world.metrics.lockouts.get()
    expect(values).toEqual([expect.objectContaining({ labels: { throttle: 'machine' }, value: 6 })])
    // Nine failures, and nine more a minute after the first, are fewer than ten in a minute.
    const slow = freshClient()
    for (let round = 0; round < 3; round++) {
      expect(await statuses(9, () => fail(patient, slow))).toEqual(refused(9))
      now += 60_000
    }
  })

  test('[machine-auth.throttle] [machine-auth.retry-after] with Redis blocks double and are capped as configured', async () => {
    const quick = await startReplica({
      env: {
        SVC_THROTTLES_MACHINE_FAILURES: '2',
        SVC_THROTTLES_MACHINE_WINDOW_MS: '20000',
        SVC_THROTTLES_MACHINE_BLOCK_MS: '400',
        SVC_THROTTLES_MACHINE_MAX_BLOCK_MS: '900',
      },
    })
    await redisAnswers(quick)
    const client = freshClient()
    expect((await fail(quick, client)).status).toBe(401)
    for (const [shortest, longest] of [
      [400, 800],
      [800, 1_600],
      [900, 1_600],
      [900, 1_800],
    ] as const) {
      const start = performance.now()
      expect((await fail(quick, client)).status).toBe(401)
      let answer = await fail(quick, client)
      expect(answer.status).toBe(429)
      while (answer.status === 429) {
        expect(answer.headers.get('retry-after')).toBe('1')
        await pause(10)
        answer = await fail(quick, client)
      }
      expect(answer.status).toBe(401)
      const took = performance.now() - start
      expect(took).toBeGreaterThan(shortest - 10)
      expect(took).toBeLessThan(longest)
    }
  })
})

describe('who is counted', () => {
  /** A wrong token straight from a peer, past the proxy. */
  const failFrom = async (app: TestApp, remoteAddress: string, headers: Headers = {}): Promise<number> => {
    const request = { url: machinePath, headers: { ...wrong(), ...headers }, remoteAddress }
    return (await app.app.server.inject(request)).statusCode
  }

  test('[machine-auth.client-address] each peer by its address, IPv6 peers by their /64', async () => {
    for (const [same, other] of [
      [['192.0.2.1', '::ffff:192.0.2.1'], '192.0.2.2'],
      [['2001:db8:1:1::1', '2001:db8:1:1:ffff:ffff:ffff:ffff', '2001:db8:1:1::'], '2001:db8:1:2::1'],
    ] as const) {
      for (let i = 0; i < 10; i++) expect(await failFrom(service, same[i % same.length] as string)).toBe(401)
      for (const address of same) expect(await failFrom(service, address)).toBe(429)
      expect(await failFrom(service, other)).toBe(401)
    }
  })

  test('[machine-auth.client-address] [machine-auth.client-forwarded] forwarded IPv6 clients share their /64, and different networks are apart', async () => {
    const network = ['2001:db8:2:1::1', '2001:DB8:2:1:0:0:0:2', '2001:0db8:0002:0001:a:b:c:d']
    for (let i = 0; i < 10; i++)
      expect((await fail(service, network[i % network.length] as string)).status).toBe(401)
    for (const address of network) expect((await fail(service, address)).status).toBe(429)
    for (const address of ['2001:db8:2:2::1', '2001:db8:2::1', '2001:db8:3:1::1'])
      expect((await fail(service, address)).status).toBe(401)
  })

  test('[machine-auth.client-forwarded] a forged X-Forwarded-For changes nothing: the peer is counted and stays blocked', async () => {
    const forge = (i: number, secret: Headers) => ({ 'x-forwarded-for': `198.51.100.${i}`, ...secret })
    const peer = '192.0.2.50'
    for (let i = 0; i < 10; i++)
      expect(await failFrom(service, peer, forge(i, i % 2 ? { 'x-proxy-auth': 'wrong' } : {}))).toBe(401)
    for (let i = 10; i < 30; i++) expect(await failFrom(service, peer, forge(i, {}))).toBe(429)
    // Those whose addresses were abused are free, and so is the real connection of this test.
    expect((await fail(service, '198.51.100.3')).status).toBe(401)
    expect((await call(service.url, machinePath, wrong())).status).toBe(401)
    // Behind the right secret the same header counts.
    expect(await failFrom(service, peer, throughProxy('198.51.100.200'))).toBe(401)
  })

  test('[machine-auth.client-forwarded] of several hops the right-most one that is not trusted is counted', async () => {
    const trusting = await startReplica({ env: { SVC_PROXY_TRUSTED_CIDRS: '127.0.0.0/8, 10.0.0.0/8' } })
    const failVia = async (hops: string): Promise<number> =>
      (await call(trusting.url, machinePath, { ...wrong(), 'x-forwarded-for': hops })).status
    const client = '203.0.113.9'
    for (let i = 0; i < 10; i++)
      expect(await failVia(`198.51.100.${i}, ${client}${i % 2 ? ', 10.1.2.3, 127.0.0.9' : ''}`)).toBe(401)
    for (const hops of [client, `1.2.3.4,${client}`, `${client}, 10.200.0.1`, `nonsense, ${client}`])
      expect(await failVia(hops)).toBe(429)
    for (const hops of [`${client}, 198.51.100.1`, `${client}, nonsense`, '203.0.113.10'])
      expect(await failVia(hops)).toBe(401)
    // A peer outside the trusted networks speaks for itself alone.
    const peer = '203.0.113.77'
    for (let i = 0; i < 10; i++)
      expect(await failFrom(trusting, peer, { 'x-forwarded-for': `198.51.100.${i + 100}` })).toBe(401)
    expect(await failFrom(trusting, peer, { 'x-forwarded-for': '198.51.100.250' })).toBe(429)
  })
})

describe('who shares the counters', () => {
  /** The work for a fresh client, again when Redis did not answer meanwhile: then nothing was shared. */
  async function withRedis(apps: TestApp[], work: (client: string) => Promise<void>): Promise<void> {
    const lapses = (): number =>
      apps.flatMap((app) => app.logLines.filter((line) => line['msg'] === 'redis does not answer')).length
    for (let attempt = 1; attempt <= 5; attempt++) {
      for (const app of apps) await redisAnswers(app)
      const before = lapses()
      const outcome = await work(freshClient()).catch((error: unknown) => error)
      if (lapses() > before) continue
      if (outcome !== undefined) throw outcome
      return
    }
    throw new Error('Redis kept failing to answer')
  }

  test('[machine-auth.counters-redis] failures on two replicas add up, also when they come at once, and block on both', async () => {
    const replica = await startReplica()
    const apps = [service, replica]
    await withRedis(apps, async (client) => {
      for (let i = 0; i < 10; i++) expect((await fail(apps[i % 2] as TestApp, client)).status).toBe(401)
      for (const app of apps) expect((await fail(app, client)).status).toBe(429)
    })
    await withRedis(apps, async (client) => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, i) => fail(apps[i % 2] as TestApp, client)),
      )
      expect(answers.map(({ status }) => status)).toEqual(refused(10))
      for (const app of apps) expect((await fail(app, client)).status).toBe(429)
    })
  })

  test('[machine-auth.counters-redis] [machine-auth.throttle-valid-passes] a success forgets the shared failures', async () => {
    const replica = await startReplica()
    const apps = [service, replica]
    await withRedis(apps, async (client) => {
      expect(await statuses(9, () => fail(service, client))).toEqual(refused(9))
      expect((await succeed(service, client)).status).toBe(404)
      expect((await fail(service, client)).status).toBe(401)
      expect(await statuses(9, () => fail(replica, client))).toEqual(refused(9))
      for (const app of apps) expect((await fail(app, client)).status).toBe(429)
    })
  })

  test('[machine-auth.counters-redis] [machine-auth.throttle-valid-passes] a success on one replica is heeded by another that knows the failures and the block', async () => {
    const replica = await startReplica()
    const apps = [service, replica]
    await withRedis(apps, async (client) => {
      expect(await statuses(9, () => fail(replica, client))).toEqual(refused(9))
      expect((await succeed(service, client)).status).toBe(404)
      expect((await fail(service, client)).status).toBe(401)
      expect(await statuses(9, () => fail(replica, client))).toEqual(refused(9))
      for (const app of apps) expect((await fail(app, client)).status).toBe(429)
      expect((await succeed(service, client)).status).toBe(404)
      expect((await fail(service, client)).status).toBe(401)
      // The other one asks about a client it knows as blocked from time to time only.
      const seen: number[] = []
      for (let tries = 0; tries < 100 && seen.at(-1) !== 401; tries++) {
        seen.push((await fail(replica, client)).status)
        await pause(50)
      }
      expect(seen.at(-1)).toBe(401)
    })
  })

  test('[machine-auth.counters-redis] without Redis each replica counts for itself and still blocks', async () => {
    const [first, second] = [await startReplica({ env: noRedis }), await startReplica({ env: noRedis })]
    const client = freshClient()
    for (const app of [first, second]) {
      await block(app, client)
      expect((await fail(app, freshClient())).status).toBe(401)
    }
    expect((await succeed(first, client)).status).toBe(404)
    expect((await fail(first, client)).status).toBe(401)
    expect((await fail(second, client)).status).toBe(429)
  })

  test('[machine-auth.counters-redis] when Redis stops answering, what the replica saw itself still counts', async () => {
    const { hostname, port } = new URL(redisUrl())
    const way = await startDarkProxy({ host: hostname, port: Number(port || 6379) })
    const replica = await startReplica({ env: { SVC_REDIS_URL: `redis://127.0.0.1:${way.port}` } })
    await redisAnswers(replica)
    const [client, other] = [freshClient(), freshClient()]
    expect(await statuses(6, () => fail(replica, client))).toEqual(refused(6))
    await block(replica, other)
    way.goDark()
    expect(await statuses(5, () => fail(replica, client))).toEqual([...refused(4), 429])
    expect(replica.world.redis.isUp()).toBe(false)
    expect((await fail(replica, other)).status).toBe(429)
    expect((await succeed(replica, client)).status).toBe(404)
    expect((await fail(replica, client)).status).toBe(401)
    await way.close()
  })
})
