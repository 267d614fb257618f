// Tests channels and commands while Redis hangs, or while the connection of a subscriber fails silently.
import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { startRedis } from '@manager/harness/engines/redis.ts'
import { type Peer, type PeerOptions, startPeer } from '../../../test/kit/channels.ts'
import { startBlackholeProxy } from '../../../test/kit/blackhole-proxy.ts'

const pollOptions = { timeout: 30_000, interval: 20 }
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const peers: Peer[] = []
afterEach(async () => {
  for (const peer of peers.splice(0)) await peer.close()
})

async function join(options: PeerOptions): Promise<Peer> {
  const peer = startPeer({ usesProductionTimeouts: true, ...options })
  peers.push(peer)
  await expect.poll(() => peer.redis.isUp(), pollOptions).toBe(true)
  return peer
}

/** Publishes until a message arrives; returns how long that took. */
async function untilHeard(from: Peer, to: Peer, channel: string): Promise<number> {
  const startedAt = performance.now()
  to.heard.length = 0
  while (to.heard.length === 0 && performance.now() - startedAt < 30_000) {
    from.channels.publish(channel, 'hello')
    await pause(20)
  }
  return performance.now() - startedAt
}

test('Redis hangs for five seconds: nothing waits for it but one command, and hints flow again afterwards', async () => {
  const redis = await startRedis(await freePort())
  const [one, other] = [await join({ url: redis.url }), await join({ url: redis.url })]
  const tenant = randomUUID()
  expect(await other.channels.subscribe(tenant)).toBe(true)
  redis.signal('SIGSTOP')
  const [waits, publishes]: [number[], number[]] = [[], []]
  let [taken, refused] = [0, 0]
  for (const startedAt = performance.now(); performance.now() - startedAt < 5_000;) {
    const before = performance.now()
    for (let n = 0; n < 10; n++)
      if (one.channels.publish(tenant, 'x'.repeat(1_000))) taken++
      else refused++
    const between = performance.now()
    await one.redis.eval('return 1', [])
    publishes.push(between - before)
    waits.push(performance.now() - between)
    await pause(5)
  }
  expect(await one.channels.subscribe(randomUUID())).toBe(false)
  const long = waits.filter((ms) => ms > 40)
  process.stdout.write(
    `redis hung: ${taken} taken, ${refused} refused, ${long.length} commands waited ${Math.round(Math.max(...waits))} ms at most, ` +
      `ten publishes ${Math.max(...publishes).toFixed(1)} ms at most\n`,
  )
  // Redis may briefly appear to be up when the connection is reopened.
  expect(long.length).toBeLessThan(5)
  expect(Math.max(...waits)).toBeLessThan(150)
  expect(taken).toBeLessThan(1_000)
  expect(refused).toBeGreaterThan(1_000)
  redis.signal('SIGCONT')
  expect(await untilHeard(one, other, tenant)).toBeLessThan(10_000)
  await expect.poll(() => one.redis.isUp(), pollOptions).toBe(true)
  await redis.stop()
})

test('a subscriber whose connection goes dark notices, and is back', async () => {
  const redis = await startRedis(await freePort())
  const proxy = await startBlackholeProxy({ host: '127.0.0.1', port: redis.port })
  const one = await join({ url: redis.url })
  const other = await join({ url: `redis://127.0.0.1:${proxy.port}` })
  const tenants = Array.from({ length: 20 }, () => randomUUID())
  for (const tenant of tenants) expect(await other.channels.subscribe(tenant)).toBe(true)
  proxy.blackhole()
  const tookMs = await untilHeard(one, other, tenants[0] as string)
  process.stdout.write(`subscriber in the dark: hints after ${Math.round(tookMs)} ms\n`)
  expect(tookMs).toBeLessThan(10_000)
  for (const tenant of tenants) expect(await untilHeard(one, other, tenant)).toBeLessThan(5_000)
  await proxy.close()
  await redis.stop()
})

test('ten thousand channels are subscribed again within seconds', async () => {
  const port = await freePort()
  const redis = await startRedis(port)
  const [one, other] = [await join({ url: redis.url }), await join({ url: redis.url })]
  const tenants = Array.from({ length: 10_000 }, () => randomUUID())
  for (let n = 0; n < tenants.length; n += 500) {
    const part = tenants.slice(n, n + 500).map((tenant) => other.channels.subscribe(tenant))
    expect(new Set(await Promise.all(part))).toEqual(new Set([true]))
  }
  redis.signal('SIGKILL')
  await expect.poll(() => other.redis.isUp(), pollOptions).toBe(false)
  const again = await startRedis(port)
  const startedAt = performance.now()
  await expect.poll(() => one.redis.isUp(), pollOptions).toBe(true)
  for (const tenant of [tenants[0], tenants[4_999], tenants[9_999]] as string[])
    await untilHeard(one, other, tenant)
  const tookMs = performance.now() - startedAt
  process.stdout.write(`10,000 channels: subscribed again after ${Math.round(tookMs)} ms\n`)
  expect(tookMs).toBeLessThan(10_000)
  await again.stop()
})
