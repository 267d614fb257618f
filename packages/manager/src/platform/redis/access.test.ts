// Tests access to Redis: an account with few permissions, TLS, and a password that never appears in logs.
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import tls, { type TLSSocket } from 'node:tls'
import { type AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { sendRedisCommand } from '@manager/harness/engines/redis-ask.ts'
import { type RedisServer, startRedis } from '@manager/harness/engines/redis.ts'
import { createCertificate } from '@manager/harness/certificates.ts'
import { type Peer, startPeer } from '../../../test/kit/channels.ts'
import { createRateLimit } from '../throttle/rate-limit.ts'
import { createWindowLimit } from '../throttle/window-limit.ts'
import type { Redis } from './redis.ts'

let server: RedisServer
const peers: Peer[] = []
beforeAll(async () => {
  server = await startRedis(await freePort())
})
afterEach(async () => {
  for (const peer of peers.splice(0)) await peer.close()
})
afterAll(() => server.stop())

const pollOptions = { timeout: 40_000, interval: 20 }
const join = (url: string, keyPrefix = 'svc'): Peer => {
  const peer = startPeer({ url, keyPrefix })
  peers.push(peer)
  return peer
}

/** Asserts that commands, messages and subscriptions work. */
async function expectAccess(url: string): Promise<void> {
  const [one, other] = [join(url), join(url)]
  await expect.poll(() => one.redis.isUp() && other.redis.isUp(), pollOptions).toBe(true)
  const script = "redis.call('HSET', KEYS[1], 'a', 1) return redis.call('DEL', KEYS[1])"
  const keys = [one.redis.key('throttle:x')]
  expect(await one.redis.eval(script, keys)).toBe(1)
  await expectRateLimit(one.redis)
  const tenant = randomUUID()
  expect(await other.channels.subscribe(tenant)).toBe(true)
  expect(one.channels.publish(tenant, 'hello')).toBe(true)
  await expect.poll(() => other.heard, pollOptions).toEqual([`${tenant} hello`])
  other.channels.unsubscribe(tenant)
  expect([...one.logLines, ...other.logLines]).toEqual([])
}

/**
 * Asserts that the limits count in Redis. Without the permission, each limiter would count separately and allow one
 * more use.
 */
async function expectRateLimit(redis: Redis): Promise<void> {
  const limits = { perSecond: 0.001, burst: 1 }
  const name = randomUUID()
  expect(await createRateLimit('access', limits, redis)(name)).toBe(0)
  expect(await createRateLimit('access', limits, redis)(name)).toBeGreaterThan(0)
  const window = { count: 1, windowMs: 600_000 }
  expect(await createWindowLimit('access', window, redis)(name)).toBe(0)
  expect(await createWindowLimit('access', window, redis)(name)).toBeGreaterThan(0)
}

test('an account needs no rights but those that the operations page lists', async () => {
  const commands =
    'ping hello eval spublish ssubscribe sunsubscribe time get set hmget hset pexpire del llen lindex lpop rpush'
  const rights = [...commands.split(' ').map((name) => `+${name}`), '~svc:*', '&svc:hints:*']
  const account = ['SETUSER', 'few', 'on', '>word', 'resetkeys', 'resetchannels', ...rights]
  expect(await sendRedisCommand(server.port, 'ACL', ...account)).toBe('OK')
  await expectAccess(`redis://few:word@127.0.0.1:${server.port}`)
})

test('a wrong password is one line that does not show it', async () => {
  const peer = join(`redis://few:hidden@127.0.0.1:${server.port}`)
  await expect.poll(() => peer.logLines.length, pollOptions).toBe(1)
  expect(await peer.channels.subscribe(randomUUID())).toBe(false)
  expect(peer.logLines[0]).toMatchObject({ reason: 'WRONGPASS', redis: `127.0.0.1:${server.port}` })
  expect(JSON.stringify(peer.logLines)).not.toContain('hidden')
})

test('rediss:// is TLS, and a certificate of an unknown authority is refused', async () => {
  const authority = createCertificate('Authority', [])
  const { cert, key } = createCertificate('redis', ['127.0.0.1'], { issuer: authority })
  const sockets = new Set<TLSSocket>()
  const front = tls.createServer({ cert, key }, (socket) => {
    sockets.add(socket)
    const behind = connect(server.port, '127.0.0.1')
    for (const end of [socket, behind]) {
      end.on('error', () => undefined)
      end.on('close', () => [socket, behind].map((each) => each.destroy()))
    }
    socket.pipe(behind).pipe(socket)
  })
  front.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  const url = `rediss://127.0.0.1:${(front.address() as AddressInfo).port}`
  const stranger = join(url)
  await expect.poll(() => stranger.logLines.length, pollOptions).toBe(1)
  expect(stranger.logLines[0]).toMatchObject({ reason: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
  const trusted = tls.getCACertificates('default')
  tls.setDefaultCACertificates([...trusted, authority.cert])
  try {
    await expectAccess(url)
  } finally {
    tls.setDefaultCACertificates(trusted)
    for (const peer of peers.splice(0)) await peer.close()
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => front.close(resolve))
  }
})
