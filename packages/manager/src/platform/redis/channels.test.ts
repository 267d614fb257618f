// Tests channels on a single Redis server.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { sendRedisCommand } from '@manager/harness/engines/redis-ask.ts'
import { type RedisServer, startRedis } from '@manager/harness/engines/redis.ts'
import { type Peer, type PeerOptions, startPeer } from '../../../test/kit/channels.ts'
import { startBlackholeProxy } from '../../../test/kit/blackhole-proxy.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis(await freePort())
})
afterAll(() => server.stop())

const peers: Peer[] = []
afterEach(async () => {
  for (const peer of peers.splice(0)) await peer.close()
})
const pollOptions = { timeout: 40_000, interval: 20 }

/** Starts a peer and waits until it detects that Redis responds. */
async function join(options: Partial<PeerOptions> = {}): Promise<Peer> {
  const peer = startPeer({ url: server.url, ...options })
  peers.push(peer)
  await expect.poll(() => peer.redis.isUp(), pollOptions).toBe(true)
  return peer
}

/** Sends a command to Redis without the client under test. */
async function ask({ port }: RedisServer, ...command: string[]): Promise<unknown> {
  return sendRedisCommand(port, ...command)
}

/** Waits until all previously published messages have arrived. */
async function flush(from: Peer, to: Peer): Promise<void> {
  const last = randomUUID()
  expect(await to.channels.subscribe(last)).toBe(true)
  expect(from.channels.publish(last, 'end')).toBe(true)
  await expect.poll(() => to.heard.at(-1), pollOptions).toBe(`${last} end`)
  to.heard.pop()
}

describe('channels', () => {
  test('let a message through once, however often Redis brings it', async () => {
    const peer = await join()
    const tenant = randomUUID()
    expect(await peer.channels.subscribe(tenant)).toBe(true)
    for (const message of ['first-sender1 a', 'first-sender1 a', 'first-sender2 b', 'first-sender1 a'])
      await ask(server, 'SPUBLISH', peer.redis.key(`hints:{${tenant}}`), message)
    for (const message of ['other-sender1 c', 'without a head', 'first-sender3 d'])
      await ask(server, 'SPUBLISH', peer.redis.key(`hints:{${tenant}}`), message)
    await expect.poll(() => peer.heard.at(-1), pollOptions).toBe(`${tenant} d`)
    expect(peer.heard).toEqual(['a', 'b', 'c', 'd'].map((text) => `${tenant} ${text}`))
  })

  test('reach the other processes that have subscribed, in order, and not the sender', async () => {
    const [one, other, third] = [await join(), await join(), await join()]
    const tenant = randomUUID()
    expect(await one.channels.subscribe(tenant)).toBe(true)
    expect(await other.channels.subscribe(tenant)).toBe(true)
    const messages = Array.from({ length: 200 }, (_, n) => `${n} {"täxt":"\u{1f514}"}`)
    for (const message of messages) expect(one.channels.publish(tenant, message)).toBe(true)
    await flush(one, other)
    await flush(other, one)
    expect(other.heard).toEqual(messages.map((message) => `${tenant} ${message}`))
    expect(one.heard).toEqual([])
    expect(third.heard).toEqual([])
    expect(one.lost).toBe(0)
  })

  test('carry only what was subscribed, until it is unsubscribed', async () => {
    const [one, other] = [await join(), await join()]
    const [tenant, neighbour] = [randomUUID(), randomUUID()]
    expect(await other.channels.subscribe(tenant)).toBe(true)
    one.channels.publish(neighbour, 'not for you')
    one.channels.publish(tenant, 'for you')
    await flush(one, other)
    other.channels.unsubscribe(tenant)
    await flush(one, other)
    one.channels.publish(tenant, 'too late')
    await flush(one, other)
    expect(other.heard).toEqual([`${tenant} for you`])
    expect(await ask(server, 'PUBSUB', 'SHARDNUMSUB', `peers:hints:{${tenant}}`)).toEqual([
      `peers:hints:{${tenant}}`,
      0,
    ])
  })

  test('that are unsubscribed and subscribed again at once stay subscribed', async () => {
    const [one, other] = [await join(), await join()]
    const tenant = randomUUID()
    expect(await other.channels.subscribe(tenant)).toBe(true)
    for (let n = 0; n < 20; n++) {
      other.channels.unsubscribe(tenant)
      const pending = other.channels.subscribe(tenant)
      if (n % 2 === 0) other.channels.unsubscribe(tenant)
      if (n % 2 === 0) void other.channels.subscribe(tenant)
      await pending
    }
    expect(await other.channels.subscribe(tenant)).toBe(true)
    await flush(one, other)
    one.channels.publish(tenant, 'still here')
    await flush(one, other)
    expect(other.heard).toEqual([`${tenant} still here`])
  })

  test('of installations that share a Redis are kept apart by their prefix', async () => {
    const [one, other] = [await join({ keyPrefix: 'first' }), await join({ keyPrefix: 'second' })]
    const friend = await join({ keyPrefix: 'first' })
    const tenant = randomUUID()
    for (const peer of [other, friend]) expect(await peer.channels.subscribe(tenant)).toBe(true)
    one.channels.publish(tenant, 'hello')
    await expect.poll(() => friend.heard, pollOptions).toEqual([`${tenant} hello`])
    await flush(one, friend)
    expect(other.heard).toEqual([])
  })

  test('open no connection to subscribe before there is something to subscribe', async () => {
    const own = await startRedis(await freePort())
    const peer = await join({ url: own.url })
    const clients = async (): Promise<number> =>
      String(await ask(own, 'CLIENT', 'LIST'))
        .trim()
        .split('\n').length - 1
    peer.channels.publish(randomUUID(), 'nobody hears it')
    expect(await clients()).toBe(1)
    await peer.channels.subscribe(randomUUID())
    await peer.channels.subscribe(randomUUID())
    expect(await clients()).toBe(2)
    await own.stop()
  })
})

describe('channels while Redis is away', () => {
  test('at the start: nothing waits, and everything is subscribed once Redis is there', async () => {
    const port = await freePort()
    const options = { url: `redis://127.0.0.1:${port}` }
    const [one, other] = [startPeer(options), startPeer(options)]
    peers.push(one, other)
    await expect.poll(() => one.logLines.length + other.logLines.length, pollOptions).toBe(2)
    const tenant = randomUUID()
    expect(other.channels.publish(tenant, 'lost')).toBe(false)
    expect(await other.channels.subscribe(tenant)).toBe(false)
    const late = await startRedis(port)
    await expect
      .poll(async () => {
        one.channels.publish(tenant, 'hello')
        await new Promise((resolve) => setTimeout(resolve, 20))
        return other.heard.length > 0
      }, pollOptions)
      .toBe(true)
    expect(one.logLines.map(({ msg }) => msg)).toEqual([
      'redis is unavailable; throttles count per process',
      'redis is available again',
    ])
    await late.stop()
  })

  test('for a while: every channel is subscribed again', async () => {
    const first = await startRedis(await freePort())
    const [one, other] = [await join({ url: first.url }), await join({ url: first.url })]
    const tenants = Array.from({ length: 50 }, () => randomUUID())
    for (const tenant of tenants) expect(await other.channels.subscribe(tenant)).toBe(true)
    other.channels.unsubscribe(tenants.pop() as string)
    first.signal('SIGKILL')
    await expect.poll(() => one.redis.isUp(), pollOptions).toBe(false)
    expect(one.channels.publish(tenants[0] as string, 'lost')).toBe(false)
    const second = await startRedis(first.port)
    await expect.poll(() => one.redis.isUp(), pollOptions).toBe(true)
    await expect
      .poll(async () => ((await ask(second, 'PUBSUB', 'SHARDCHANNELS')) as string[]).length, pollOptions)
      .toBe(tenants.length)
    for (const tenant of tenants) one.channels.publish(tenant, 'hello')
    await expect
      .poll(() => other.heard.toSorted(), pollOptions)
      .toEqual(tenants.map((tenant) => `${tenant} hello`).toSorted())
    await second.stop()
  })

  test('a subscriber whose connection was reset is back', async () => {
    const proxy = await startBlackholeProxy({ host: '127.0.0.1', port: server.port })
    const [one, other] = [await join(), await join({ url: `redis://127.0.0.1:${proxy.port}` })]
    const tenant = randomUUID()
    expect(await other.channels.subscribe(tenant)).toBe(true)
    proxy.reset()
    await expect
      .poll(async () => {
        one.channels.publish(tenant, 'hello')
        await new Promise((resolve) => setTimeout(resolve, 20))
        return other.heard.length > 0
      }, pollOptions)
      .toBe(true)
    await proxy.close()
  })

  test('what waits for a Redis that hangs is bounded in number and in bytes; what is dropped later is counted', async () => {
    const own = await startRedis(await freePort())
    const few = await join({ url: own.url, limits: { messages: 3, bytes: 1_000_000 } })
    const small = await join({ url: own.url, limits: { messages: 1_000, bytes: 1_000 } })
    own.signal('SIGSTOP')
    const tenant = randomUUID()
    const taken = Array.from({ length: 5 }, () => few.channels.publish(tenant, 'x'))
    expect(taken).toEqual([true, true, true, false, false])
    expect(small.channels.publish(tenant, 'x'.repeat(900))).toBe(true)
    expect(small.channels.publish(tenant, 'x'.repeat(200))).toBe(false)
    own.signal('SIGKILL')
    await expect.poll(() => [few.lost, small.lost], pollOptions).toEqual([3, 1])
  })

  test('a Redis that refuses is reported once', async () => {
    const own = await startRedis(await freePort())
    await ask(own, 'ACL', 'SETUSER', 'default', 'resetchannels')
    const again = await join({ url: own.url, usesProductionTimeouts: true })
    for (let n = 0; n < 3; n++) {
      expect(await again.channels.subscribe(randomUUID())).toBe(false)
      again.channels.publish(randomUUID(), 'x')
    }
    await expect.poll(() => again.lost, pollOptions).toBe(3)
    const refusals = again.logLines.filter(({ reason }) => reason === 'NOPERM').map(({ msg }) => String(msg))
    expect(new Set(refusals.map((msg) => msg.split(':')[0]))).toEqual(
      new Set(['redis rejects SPUBLISH', 'redis rejects SSUBSCRIBE']),
    )
    expect(refusals).toHaveLength(2)
    await own.stop()
  })
})
