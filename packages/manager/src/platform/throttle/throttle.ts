// Counts failures per client and blocks a client that has too many. Counters are shared through Redis; what this
// process saw itself it also keeps in memory, so that limits go on when Redis is away, hangs or was emptied. Only
// failures touch Redis: a success costs a map lookup, and its clearing of the shared counter is sent with others a
// moment later.
import { createLru } from '../cache/lru.ts'
import type { Clock } from '../clock.ts'
import type { AuthFailures } from '../credentials/auth-failures.ts'
import { type ThrottleLimits, createFailureWindow } from './failure-window.ts'
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'
import type { Redis } from '../redis/redis.ts'

export type Throttle = {
  /** Counts a failure. Returns for how long the client is blocked; 0 for a failure that was still free. */
  fail(client: string): Promise<number>
  /** For how long the client is blocked, without counting anything. */
  blockedMs(client: string): Promise<number>
  /** As blockedMs, by what this process knows. */
  knownBlockMs(client: string): number
  /** Forgets the client's failures and ends its block. */
  succeed(client: string): void
  close(): Promise<void>
}

const clearEveryMs = 200
const maxClears = 5_000
const askEveryMs = 1_000
const maxAsked = 10_000

// The same steps as the failure window's, on Redis's own clock and in one round trip: two replicas that count at once
// cannot lose a failure. ARGV: failures, window, block (0: until the window ends), longest block. Returns the present
// block, the one it begins, and when a success last cleared the client.
const failScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local read = redis.call('HMGET', KEYS[1], 'count', 'window', 'blocked', 'blocks', 'cleared')
local count, window = tonumber(read[1]) or 0, tonumber(read[2]) or 0
local blocked, blocks, cleared = tonumber(read[3]) or 0, tonumber(read[4]) or 0, tonumber(read[5]) or 0
if blocked > now then return {blocked - now, 0, cleared} end
if window <= now then count = 0; window = now + ARGV[2] end
count = count + 1
local block = 0
if count >= tonumber(ARGV[1]) then
  block = math.min(tonumber(ARGV[3]) == 0 and window - now or ARGV[3] * 2 ^ blocks, tonumber(ARGV[4]))
  blocks = blocks + 1; blocked = now + block; count = 0; window = 0
end
redis.call('HSET', KEYS[1], 'count', count, 'window', window, 'blocked', blocked, 'blocks', blocks)
redis.call('PEXPIRE', KEYS[1], math.max(tonumber(ARGV[2]), block) + ARGV[4])
return {0, block, cleared}`
const readScript = `
local time = redis.call('TIME')
local read = redis.call('HMGET', KEYS[1], 'blocked', 'cleared')
local blocked = (tonumber(read[1]) or 0) - time[1] * 1000 - math.floor(time[2] / 1000)
return {math.max(0, blocked), 0, tonumber(read[2]) or 0}`
// A client without failures leaves nothing behind. One with failures leaves the time they were cleared, so that
// replicas that still have them can tell this from a Redis that lost them. ARGV: how long that is kept.
const clearScript = `
local time = redis.call('TIME')
for _, key in ipairs(KEYS) do
  if redis.call('DEL', key) == 1 then
    redis.call('HSET', key, 'cleared', time[1] * 1000 + math.floor(time[2] / 1000))
    redis.call('PEXPIRE', key, ARGV[1])
  end
end`

export type ThrottleDeps = {
  redis: Redis
  clock: Clock
  metrics: Metrics
  log: Logger
  authFailures: Pick<AuthFailures, 'lockout'>
}

/** `name` keeps the counters of different throttles apart. */
export function createThrottle(
  name: string,
  limits: ThrottleLimits,
  { redis, clock, metrics, log, authFailures }: ThrottleDeps,
): Throttle {
  const own = createFailureWindow(limits)
  const now = (): number => clock.now().getTime()
  const keyOf = (client: string): string => redis.key(`throttle:${name}:${client}`)
  const { failures, windowMs, blockMs, maxBlockMs } = limits
  const clears = createClears(redis, keyOf, windowMs + maxBlockMs)
  const recentlyAsked = createLru<true>({ max: maxAsked, ttl: askEveryMs })
  const args = [failures, windowMs, blockMs === 'window' ? 0 : blockMs, maxBlockMs].map(String)

  const countLockout = metrics.lockouts.of(name)
  const noteBlock = (client: string, block_ms: number): void => {
    countLockout()
    authFailures.lockout(name, client, block_ms)
    log.warn({ throttle: name, client, block_ms }, 'client is blocked after too many failures')
  }
  /** Runs a script on the client's counter; the shared state is taken over. Nothing is known while Redis is away. */
  const ask = async (client: string, script: string): Promise<{ present: number; begun: number }> => {
    // On the same connection, so Redis forgets the earlier failures before it counts this one.
    if (clears.has(client)) void clears.send()
    recentlyAsked.set(client, true)
    const answer = await redis.eval(script, [keyOf(client)], args)
    const [present = 0, begun = 0, clearedAt = 0] = Array.isArray(answer) ? (answer as number[]) : []
    own.clearBefore(client, clearedAt)
    return { present, begun }
  }
  /** A block may have been ended by a success elsewhere: it is asked about again, but not at every try. */
  const isSettled = (client: string): boolean => own.blockedMs(client, now()) > 0 && recentlyAsked.has(client)
  const takeOver = (client: string, blockMs: number): number => {
    if (blockMs > 0) own.block(client, now(), blockMs)
    return own.blockedMs(client, now())
  }

  return {
    knownBlockMs: (client) => own.blockedMs(client, now()),
    blockedMs: async (client) => {
      if (isSettled(client)) return own.blockedMs(client, now())
      return takeOver(client, (await ask(client, readScript)).present)
    },
    fail: async (client) => {
      if (isSettled(client)) return own.blockedMs(client, now())
      const { present, begun } = await ask(client, failScript)
      const blockedMs = takeOver(client, present)
      if (blockedMs > 0) return blockedMs
      const ownBegun = own.fail(client, now())
      takeOver(client, begun)
      if (ownBegun + begun > 0) noteBlock(client, Math.max(ownBegun, begun))
      return 0
    },
    succeed: (client) => {
      own.forget(client)
      clears.add(client)
    },
    close: () => clears.close(),
  }
}

/** Shared counters to forget, sent together. */
function createClears(redis: Redis, keyOf: (client: string) => string, keepMs: number) {
  const waiting = new Set<string>()
  const send = async (): Promise<void> => {
    if (waiting.size === 0) return
    const groups = redis.groups([...waiting].map(keyOf))
    waiting.clear()
    const args = [String(keepMs)]
    await Promise.all(groups.map((keys) => redis.eval(clearScript, keys, args)))
  }
  const timer = setInterval(() => void send(), clearEveryMs)
  timer.unref()
  return {
    has: (client: string): boolean => waiting.has(client),
    add: (client: string): void => {
      if (waiting.size < maxClears) waiting.add(client)
    },
    send,
    close: async (): Promise<void> => {
      clearInterval(timer)
      await send()
    },
  }
}
