// Redis holds only what may be lost: hints and counters. Nothing here makes a request fail or wait for long.
import { createClient } from 'redis'
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'
import { redisPlace } from './addresses.ts'

/** The commands we use. */
type Commands = {
  eval(script: string, options: { keys: string[]; arguments?: string[] }): Promise<unknown>
}

export type Redis = {
  /** False while Redis does not answer; callers then do without it. */
  isUp(): boolean
  /**
   * Runs a command and returns its result, or null when Redis is away, fails or does not answer in time. The first one
   * that times out marks Redis as down, so a Redis that hangs costs one short wait and not one per request.
   */
  run<T>(command: (client: Commands) => Promise<T>): Promise<T | null>
  /** The key of this name; installations that share a Redis differ in their prefix. */
  key(name: string): string
  close(): Promise<void>
}

const pingIntervalMs = 500
const defaultTimeouts = { pingMs: 400, commandMs: 50 }
const maxQueuedCommands = 10_000

export type RedisOptions = {
  url: string
  keyPrefix: string
  /** How long a response is waited for; tests that are not about it wait longer. */
  timeouts?: { pingMs: number; commandMs: number }
}

/** Connects in the background, keeps trying forever, and knows within a second whether Redis answers. */
export function createRedis(
  { url, keyPrefix, timeouts = defaultTimeouts }: RedisOptions,
  { log, metrics }: { log: Logger; metrics: Metrics },
): Redis {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: maxQueuedCommands,
    socket: {
      connectTimeout: 1_000,
      // Pings go out all the time; a connection that brings nothing for this long is dead and is opened again.
      socketTimeout: 3_000,
      reconnectStrategy: (tries) => Math.min(100 * 2 ** tries, 2_000),
    },
  })
  const { note, ...state } = createState(redisPlace(url), { log, metrics })
  // The client reports every failed reconnect here; the change of state is logged once, by note().
  client.on('error', (error) => note(false, error))
  client.on('ready', () => void probe())
  client.connect().catch((error: unknown) => note(false, error))
  let pending: Promise<unknown> | null = null
  const ping = async (): Promise<unknown> => client.ping()
  const probe = async (): Promise<void> => {
    // The first attempt to connect is under way; how it ends is reported.
    if (!state.isKnown() && !client.isReady) return
    // While one ping waits for a Redis that hangs, no further one is queued behind it.
    pending ??= ping().finally(() => (pending = null))
    const failure = await within(timeouts.pingMs, pending).then(
      () => null,
      (error: unknown) => error,
    )
    note(failure === null, failure)
  }
  const timer = setInterval(() => void probe(), pingIntervalMs)
  timer.unref()
  return {
    isUp: state.isUp,
    key: (name) => `${keyPrefix}:${name}`,
    run: async (command) => {
      if (!state.isUp()) return null
      try {
        return await within(timeouts.commandMs, command(client))
      } catch (error) {
        if (error === tooLate) note(false, error)
        return null
      }
    },
    close: async () => {
      state.close()
      clearInterval(timer)
      client.destroy()
      await Promise.resolve()
    },
  }
}

/** Whether Redis answers; one log line when it stops, or is away at the start, and one when it is back. */
function createState(redis: string, { log, metrics }: { log: Logger; metrics: Metrics }) {
  let up: boolean | null = null
  let closed = false
  // The start keeps the event loop busy, so the first attempt may time out though Redis is there: it takes two.
  let chances = 1
  metrics.redisDegraded.set(1)
  return {
    isUp: () => up === true,
    /** False until the first connection or the second failure. */
    isKnown: () => up !== null,
    note: (answers: boolean, error?: unknown): void => {
      if (closed || (!answers && up === null && chances-- > 0)) return
      if (answers && up === false) log.info({ redis }, 'redis answers')
      if (!answers && up !== false)
        log.warn({ redis, reason: reasonOf(error) }, 'redis does not answer; throttles count per process')
      up = answers
      metrics.redisDegraded.set(answers ? 0 : 1)
    },
    close: () => void (closed = true),
  }
}

class TooLate extends Error {}
const tooLate = new TooLate('redis did not answer in time')

/** ECONNREFUSED, WRONGPASS or ConnectionTimeoutError, for example. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code, message } = error as Error & { code?: string }
  return code ?? /^[A-Z]{4,20}(?= )/.exec(message)?.[0] ?? error.constructor.name
}

/** The result, or a rejection with `tooLate` after `ms` milliseconds; a later result is dropped. */
async function within<T>(ms: number, result: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    // After a busy turn of the event loop the timer fires before a response that has arrived: let it be read first.
    timer = setTimeout(() => setImmediate(reject, tooLate), ms)
    timer.unref()
  })
  try {
    return await Promise.race([result, timeout])
  } finally {
    clearTimeout(timer)
  }
}
