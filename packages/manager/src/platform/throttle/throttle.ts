// Counts failures per client and blocks a client that has too many. Counters are shared through Redis. Each process
// also keeps the failures that it saw in memory, so that limits still apply if Redis is unreachable, hangs or was
// flushed. Only failures access Redis directly. A success costs a map lookup, and the shared counters are cleared in
// batches soon afterwards.
import { createLru } from '../cache/lru.ts'
import type { Clock } from '../clock.ts'
import type { AuthFailures } from '../credentials/auth-failures.ts'
import { type ThrottleLimits, createFailureWindow } from './failure-window.ts'
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'
import type { Redis } from '../redis/redis.ts'

/** Blocks clients that fail too often. */
export type Throttle = {
  /** Counts a failure. Returns the remaining time of the block if the client was already blocked, otherwise 0. */
  fail(client: string): Promise<number>
  /** Returns the remaining time of the block without counting a failure. */
  getBlockedMs(client: string): Promise<number>
  /** Like `getBlockedMs`, but only based on the state of this process. */
  getKnownBlockMs(client: string): number
  /** Clears the failures of the client and ends its block. */
  succeed(client: string): void
  close(): Promise<void>
}

const clearIntervalMs = 200
const maxClears = 5_000
const readIntervalMs = 1_000
const maxRecentReads = 10_000

// Runs the steps of the failure window in one round trip, by the clock of Redis, so that no failure is lost if
// replicas count concurrently. ARGV: failures, window, block (0: until the window ends), longest block. Returns the
// current block, the block that this failure starts, and the time at which a success last cleared the client.
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
// Clears the failures of clients. A client without failures leaves no key. For a client with failures, the script
// records when it cleared them. A replica that still remembers the failures can then distinguish a success from data
// loss in Redis. ARGV: how long to keep the record.
const clearScript = `
local time = redis.call('TIME')
for _, key in ipairs(KEYS) do
  if redis.call('DEL', key) == 1 then
    redis.call('HSET', key, 'cleared', time[1] * 1000 + math.floor(time[2] / 1000))
    redis.call('PEXPIRE', key, ARGV[1])
  end
end`

/** Dependencies of a throttle. */
export type ThrottleDeps = {
  redis: Redis
  clock: Clock
  metrics: Metrics
  log: Logger
  authFailures: Pick<AuthFailures, 'lockout'>
}

/** `name` separates the counters of different throttles. */
export function createThrottle(
  name: string,
  limits: ThrottleLimits,
  { redis, clock, metrics, log, authFailures }: ThrottleDeps,
): Throttle {
  const localWindow = createFailureWindow(limits)
  const now = (): number => clock.now().getTime()
  const getKey = (client: string): string => redis.key(`throttle:${name}:${client}`)
  const { failures, windowMs, blockMs, maxBlockMs } = limits
  const clearQueue = createClearQueue(redis, getKey, windowMs + maxBlockMs)
  const recentlyRead = createLru<true>({ max: maxRecentReads, ttl: readIntervalMs })
  const args = [failures, windowMs, blockMs === 'window' ? 0 : blockMs, maxBlockMs].map(String)

  const countLockout = metrics.lockouts.startSeries(name)
  const recordBlock = (client: string, block_ms: number): void => {
    countLockout()
    authFailures.lockout(name, client, block_ms)
    log.warn({ throttle: name, client, block_ms }, 'client blocked after too many failures')
  }
  /** Runs a script on the counter of the client and applies the shared state; returns zeros if Redis is unreachable. */
  const callRedis = async (
    client: string,
    script: string,
  ): Promise<{ remainingMs: number; startedBlockMs: number }> => {
    // The clear script uses the same connection, so Redis clears earlier failures before it counts this one.
    if (clearQueue.has(client)) void clearQueue.send()
    recentlyRead.set(client, true)
    const result = await redis.eval(script, [getKey(client)], args)
    const [remainingMs = 0, startedBlockMs = 0, clearedAt = 0] = Array.isArray(result)
      ? (result as number[])
      : []
    localWindow.clearBefore(client, clearedAt)
    return { remainingMs, startedBlockMs }
  }
  /** A success in another process may have ended a block, so Redis is queried again, but not for every attempt. */
  const isBlockFresh = (client: string): boolean =>
    localWindow.getBlockedMs(client, now()) > 0 && recentlyRead.has(client)
  const applyBlock = (client: string, blockMs: number): number => {
    if (blockMs > 0) localWindow.block(client, now(), blockMs)
    return localWindow.getBlockedMs(client, now())
  }

  return {
    getKnownBlockMs: (client) => localWindow.getBlockedMs(client, now()),
    getBlockedMs: async (client) => {
      if (isBlockFresh(client)) return localWindow.getBlockedMs(client, now())
      return applyBlock(client, (await callRedis(client, readScript)).remainingMs)
    },
    fail: async (client) => {
      if (isBlockFresh(client)) return localWindow.getBlockedMs(client, now())
      const { remainingMs, startedBlockMs } = await callRedis(client, failScript)
      const blockedMs = applyBlock(client, remainingMs)
      if (blockedMs > 0) return blockedMs
      const localBlockMs = localWindow.fail(client, now())
      applyBlock(client, startedBlockMs)
      if (localBlockMs + startedBlockMs > 0) recordBlock(client, Math.max(localBlockMs, startedBlockMs))
      return 0
    },
    succeed: (client) => {
      localWindow.forget(client)
      clearQueue.add(client)
    },
    close: () => clearQueue.close(),
  }
}

/** Collects shared counters to clear, and clears them in batches. */
function createClearQueue(redis: Redis, getKey: (client: string) => string, keepMs: number) {
  const pendingClients = new Set<string>()
  const send = async (): Promise<void> => {
    if (pendingClients.size === 0) return
    const groups = redis.groupKeys([...pendingClients].map(getKey))
    pendingClients.clear()
    const args = [String(keepMs)]
    await Promise.all(groups.map((keys) => redis.eval(clearScript, keys, args)))
  }
  const timer = setInterval(() => void send(), clearIntervalMs)
  timer.unref()
  return {
    has: (client: string): boolean => pendingClients.has(client),
    add: (client: string): void => {
      if (pendingClients.size < maxClears) pendingClients.add(client)
    },
    send,
    close: async (): Promise<void> => {
      clearInterval(timer)
      await send()
    },
  }
}
