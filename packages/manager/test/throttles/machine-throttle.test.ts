// Tests the throttle for failed machine credentials: which failures it counts, for which client, how long a block
// lasts, and which replicas share the counts.
import { describe, expect, test } from 'vitest'
import type { TestApp } from '../kit/app.ts'
import { basicValue, bearer, call, statuses, throughProxy } from '@manager/harness/credentials.ts'
import { freshClient } from '../kit/machines.ts'
import {
  block,
  fail,
  machinePath,
  pause,
  refused,
  useMachineService,
  waitForRedis,
  wrong,
} from '../kit/wrong-machine-tokens.ts'

const blocked = 'too many failed authentication attempts'
const noRedis = { SVC_REDIS_URL: 'redis://127.0.0.1:1' }

const { service, good, succeed, startReplica } = useMachineService(60_000)

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
    const answer = await call(service.url, '/api/machine/check', {
      ...throughProxy(client),
      ...bearer(good()),
    })
    expect(answer.body.authenticated).toBe(true)
    expect(await statuses(9, () => fail(service, client))).toEqual(refused(9))
  })

  test('[machine-auth.throttle-missing-header] neither a missing header nor a wrong scheme counts, and neither is answered 429', async () => {
    const client = freshClient()
    const free: Record<string, string>[] = [
      {},
      { authorization: basicValue('a', 'b') },
      { authorization: 'Bearer' },
    ]
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
    // Redis uses its own clock. Without Redis, the test controls the time.
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
    expect(values.filter(({ value }) => value > 0)).toEqual([
      expect.objectContaining({ labels: { throttle: 'machine' }, value: 6 }),
    ])
    // Nine failures per minute stay below the limit of ten.
    const slow = freshClient()
    for (let round = 0; round < 3; round++) {
      expect(await statuses(9, () => fail(patient, slow))).toEqual(refused(9))
      now += 60_000
    }
  })
})

describe('who is counted', () => {
  /** Sends a wrong token directly from a peer, without the proxy. */
  const failFrom = async (
    app: TestApp,
    remoteAddress: string,
    headers: Record<string, string> = {},
  ): Promise<number> => {
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
    const forge = (i: number, secret: Record<string, string>) => ({
      'x-forwarded-for': `198.51.100.${i}`,
      ...secret,
    })
    const peer = '192.0.2.50'
    for (let i = 0; i < 10; i++)
      expect(await failFrom(service, peer, forge(i, i % 2 ? { 'x-proxy-auth': 'wrong' } : {}))).toBe(401)
    for (let i = 10; i < 30; i++) expect(await failFrom(service, peer, forge(i, {}))).toBe(429)
    // Neither the clients with the forged addresses nor the address of this test process is blocked.
    expect((await fail(service, '198.51.100.3')).status).toBe(401)
    expect((await call(service.url, machinePath, wrong())).status).toBe(401)
    // With the right secret, the address in the header counts.
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
    // Failures of a peer outside the trusted networks count against the peer's own address.
    const peer = '203.0.113.77'
    for (let i = 0; i < 10; i++)
      expect(await failFrom(trusting, peer, { 'x-forwarded-for': `198.51.100.${i + 100}` })).toBe(401)
    expect(await failFrom(trusting, peer, { 'x-forwarded-for': '198.51.100.250' })).toBe(429)
  })
})

describe('who shares the counters', () => {
  /**
   * Runs the work with a new client. If Redis was unreachable during that time, the replicas shared nothing, and the
   * work is repeated.
   */
  async function withRedis(apps: TestApp[], work: (client: string) => Promise<void>): Promise<void> {
    const lapses = (): number =>
      apps.flatMap((app) =>
        app.logLines.filter((line) => String(line['msg']).startsWith('redis is unavailable')),
      ).length
    for (let attempt = 1; attempt <= 5; attempt++) {
      for (const app of apps) await waitForRedis(app, 60_000)
      const before = lapses()
      const outcome = await work(freshClient()).catch((error: unknown) => error)
      if (lapses() > before) continue
      if (outcome !== undefined) throw outcome
      return
    }
    throw new Error('Redis stayed unreachable')
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

  test('[machine-auth.counters-redis] [machine-auth.throttle-valid-passes] a success on one replica is noticed by another that knows the failures and the block', async () => {
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
      // The other replica checks only occasionally whether a blocked client is still blocked.
      const seen: number[] = []
      for (let tries = 0; tries < 1_000 && seen.at(-1) !== 401; tries++) {
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
})
