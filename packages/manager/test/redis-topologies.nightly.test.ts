// Tests Redis Sentinel and Redis Cluster: commands and channels during normal operation, and while masters are killed
// and frozen.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { computeSlot } from '../src/platform/redis/slots.ts'
import { settings } from '../src/settings.ts'
import { loadConfig } from '../src/config/config.ts'
import { readRedisOptions } from '../src/world.ts'
import { createThrottle } from '../src/platform/throttle/throttle.ts'
import { createLog } from '../src/platform/log/log.ts'
import { createMetrics } from '../src/platform/metrics.ts'
import { sendRedisCommand } from '@manager/harness/engines/redis-ask.ts'
import { type RedisTopology, startCluster, startSentinel } from '@manager/harness/engines/redis-topology.ts'
import { type Peer, startPeer } from './kit/channels.ts'
import { lineCollector } from './kit/app.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'

const pollOptions = { timeout: 60_000, interval: 50 }
const limits = { failures: 3, windowMs: 60_000, blockMs: 30_000, maxBlockMs: 30_000 }

/** Moves the key's empty hash slot to a different master and returns that master's port. */
async function moveSlot(topology: RedisTopology, key: string): Promise<number> {
  const slot = String(computeSlot(key))
  const from = await topology.master(key)
  const nodes = String(await sendRedisCommand(from, 'CLUSTER', 'NODES'))
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
  const masters = nodes.filter(([, , flags = '']) => flags.includes('master') && !flags.includes('fail'))
  const portOf = (place = ''): number => Number(/:(\d+)@/.exec(place)?.[1])
  const [id = '', place] = masters.find(([, at]) => portOf(at) !== from) as string[]
  const to = portOf(place)
  const fromId = String(await sendRedisCommand(from, 'CLUSTER', 'MYID'))
  expect(await sendRedisCommand(to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId)).toBe('OK')
  expect(await sendRedisCommand(from, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', id)).toBe('OK')
  for (const port of [to, from])
    expect(await sendRedisCommand(port, 'CLUSTER', 'SETSLOT', slot, 'NODE', id)).toBe('OK')
  return to
}

/** Resolves when a different server has become the master of the key. */
async function untilSuccessor(topology: RedisTopology, key: string, before: number): Promise<number> {
  while ((await topology.master(key)) === before) await new Promise((resolve) => setTimeout(resolve, 50))
  return performance.now()
}

describe.each([
  { name: 'sentinel', start: startSentinel, faults: ['SIGSTOP', 'SIGKILL'] as const },
  { name: 'cluster', start: startCluster, faults: ['SIGKILL', 'SIGSTOP'] as const },
])('Redis by $name', ({ name, start, faults }) => {
  let topology: RedisTopology
  const peers: Peer[] = []
  beforeAll(async () => {
    topology = await start()
  }, 120_000)
  afterAll(() => topology.stop())
  afterEach(async () => {
    for (const peer of peers.splice(0)) await peer.close()
  })

  async function join(usesProductionTimeouts = true): Promise<Peer> {
    const config = loadConfig({ env: testEnv('postgres://127.0.0.1:1/none', topology.env) }, settings)
    const peer = startPeer({ ...readRedisOptions(config), keyPrefix: 'topology', usesProductionTimeouts })
    peers.push(peer)
    await expect.poll(() => peer.redis.isUp(), pollOptions).toBe(true)
    return peer
  }
  const subscribed = async (peer: Peer, channels: string[]): Promise<void> => {
    for (const channel of channels)
      await expect.poll(() => peer.channels.subscribe(channel), pollOptions).toBe(true)
  }
  const tenants = Array.from({ length: 30 }, () => randomUUID())
  const keyOf = (tenant: string): string => `topology:hints:{${tenant}}`

  test('commands reach the server that has the key', async () => {
    const peer = await join()
    const keys = Array.from({ length: 100 }, (_, n) => peer.redis.key(`key-${n}`))
    const counts = await Promise.all(
      keys.map((key) => peer.redis.eval("return redis.call('INCR', KEYS[1])", [key])),
    )
    expect(counts).toEqual(keys.map(() => 1))
  })

  test('throttles count together, and a success clears many clients at once', async () => {
    const [one, other] = [await join(), await join()]
    const deps = {
      clock: { now: () => new Date() },
      metrics: createMetrics('test'),
      log: createLog('silent', lineCollector([])),
      authFailures: { lockout: () => undefined },
    }
    const throttles = [one, other].map(({ redis }) => createThrottle('topology', limits, { redis, ...deps }))
    const [here, there] = throttles as [(typeof throttles)[0], (typeof throttles)[0]]
    const clients = Array.from({ length: 20 }, (_, n) => `198.51.100.${n}`)
    for (const client of clients) {
      expect(await here.fail(client)).toBe(0)
      expect(await there.fail(client)).toBe(0)
      expect(await here.fail(client)).toBe(0)
      expect(await there.getBlockedMs(client)).toBeGreaterThan(0)
    }
    for (const client of clients) here.succeed(client)
    await here.close()
    const third = await join()
    const fresh = createThrottle('topology', limits, { redis: third.redis, ...deps })
    for (const client of clients) expect(await fresh.getBlockedMs(client)).toBe(0)
    await fresh.close()
    await there.close()
  })

  test('channels reach the other processes and not the sender', async () => {
    const [one, other] = [await join(), await join()]
    await subscribed(other, tenants)
    await subscribed(one, tenants)
    for (const tenant of tenants) expect(one.channels.publish(tenant, 'hello')).toBe(true)
    await expect.poll(() => other.heard.length, pollOptions).toBe(tenants.length)
    expect(new Set(other.heard)).toEqual(new Set(tenants.map((tenant) => `${tenant} hello`)))
    for (const tenant of tenants) other.channels.unsubscribe(tenant)
    await expect
      .poll(async () => {
        const left = await Promise.all(
          topology.servers.map((port) => sendRedisCommand(port, 'PUBSUB', 'SHARDCHANNELS')),
        )
        return (left as string[][]).flat().length
      }, pollOptions)
      .toBe(tenants.length)
    expect(one.heard).toEqual([])
  })

  if (name === 'cluster')
    test('the slot of a key is the one the cluster computes', async () => {
      const [port = 0] = topology.servers
      const keys = ['a', 'a{}b', '{', '}{x}y', 'a{b}{c}', 'grüße{ß}', '', ...tenants.map(keyOf)]
      for (const key of keys)
        await expect
          .poll(() => sendRedisCommand(port, 'CLUSTER', 'KEYSLOT', key), pollOptions)
          .toBe(computeSlot(key))
    })

  if (name === 'cluster')
    test('a slot moves to another master: its channel follows', async () => {
      // Do not use production timeouts: on a busy machine, they may expire without a fault.
      const [one, other] = [await join(false), await join(false)]
      const tenant = randomUUID()
      await subscribed(other, [...tenants, tenant])
      const from = await topology.master(keyOf(tenant))
      const to = await moveSlot(topology, keyOf(tenant))
      expect(to).not.toBe(from)
      const startedAt = performance.now()
      await expect
        .poll(async () => {
          one.channels.publish(tenant, 'moved')
          await new Promise((resolve) => setTimeout(resolve, 20))
          return other.heard.includes(`${tenant} moved`)
        }, pollOptions)
        .toBe(true)
      expect(performance.now() - startedAt).toBeLessThan(10_000)
      expect(one.redis.isUp()).toBe(true)
      for (const channel of [...tenants, tenant]) one.channels.publish(channel, 'all')
      await expect
        .poll(() => other.heard.filter((line) => line.endsWith(' all')).length, pollOptions)
        .toBe(tenants.length + 1)
      expect(one.logLines).toEqual([])
    })

  // An ordinary run tests each fault once.
  test.each(faults.slice(0, loadSize(1, 2)))('the master goes by %s: hints flow again', async (fault) => {
    const [one, other] = [await join(), await join()]
    await subscribed(other, tenants)
    const before = await topology.master(keyOf(tenants[0] as string))
    const waits: number[] = []
    topology.signal(before, fault)
    const startedAt = performance.now()
    const successor = untilSuccessor(topology, keyOf(tenants[0] as string), before)
    const heard = (): Set<string> => new Set(other.heard.map((line) => line.split(' ')[0] as string))
    while (heard().size < tenants.length && performance.now() - startedAt < 60_000) {
      const publishedAt = performance.now()
      for (const tenant of tenants) one.channels.publish(tenant, 'after')
      waits.push(performance.now() - publishedAt)
      // Ignore messages that arrive before the fault is detected, for example on channels that the fault does not
      // affect.
      if (performance.now() - startedAt < 1_000) other.heard.length = 0
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const tookMs = performance.now() - startedAt
    const chosenMs = (await successor) - startedAt
    await expect.poll(() => one.redis.isUp() && other.redis.isUp(), pollOptions).toBe(true)
    const worst = Math.max(...waits)
    process.stdout.write(
      `${name} ${fault}: a successor after ${Math.round(chosenMs)} ms, all ${tenants.length} channels after ${Math.round(tookMs)} ms, ` +
        `lost later ${one.lost}, slowest round of publishing ${worst.toFixed(1)} ms\n`,
    )
    expect(heard().size).toBe(tenants.length)
    // The duration of the election depends on the machine. On an idle machine, recovery takes less than 10 s in total.
    expect(tookMs - chosenMs).toBeLessThan(5_000)
    expect(worst).toBeLessThan(250)
    const lines = one.logLines.map(({ msg }) => msg)
    expect([lines[0], lines.at(-1)]).toEqual([
      'redis is unavailable; throttles count per process',
      'redis is available again',
    ])
    // There is one log line per state change. On a busy machine, the state may change several times.
    expect(lines.filter((line, n) => line === lines[n - 1])).toEqual([])
    if (lines.length > 2) process.stdout.write(`${JSON.stringify(one.logLines)}\n`)
    await topology.heal(before)
    other.heard.length = 0
    for (const tenant of tenants) expect(one.channels.publish(tenant, 'healed')).toBe(true)
    await expect.poll(() => other.heard.length, pollOptions).toBe(tenants.length)
  })
})
