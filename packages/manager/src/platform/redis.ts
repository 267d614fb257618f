// Redis holds only what may be lost: hints and counters. Nothing here makes a request fail or wait for long.
import { createClient } from 'redis'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'

export type Redis = {
  /** False while Redis does not answer; callers then do without it. */
  isUp(): boolean
  close(): Promise<void>
}

const pingIntervalMs = 500
const pingTimeoutMs = 400

/** Connects in the background, keeps trying for ever, and knows within a second whether Redis answers. */
export function createRedis(url: string, log: Logger, metrics: Metrics): Redis {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: { connectTimeout: 1_000, reconnectStrategy: (tries) => Math.min(100 * 2 ** tries, 2_000) },
  })
  let up = false
  let closed = false
  const note = (answers: boolean): void => {
    if (answers !== up) log[answers ? 'info' : 'warn'](answers ? 'redis answers' : 'redis does not answer')
    up = answers
    metrics.redisDegraded.set(answers ? 0 : 1)
  }
  // The client reports every failed reconnect here; the change of state is logged once, by note().
  client.on('error', () => note(false))
  client.connect().catch(() => note(false))
  let pending: Promise<unknown> | null = null
  const probe = async (): Promise<void> => {
    // While one ping waits for a Redis that hangs, no further one is queued behind it.
    pending ??= client.ping().finally(() => (pending = null))
    const timeout = new Promise<never>((_, reject) =>
      setTimeout(reject, pingTimeoutMs, new Error('ping timeout')).unref(),
    )
    const answers = await Promise.race([pending, timeout]).then(
      () => true,
      () => false,
    )
    if (!closed) note(answers)
  }
  const timer = setInterval(() => void probe(), pingIntervalMs)
  timer.unref()
  void probe()
  return {
    isUp: () => up,
    close: async () => {
      closed = true
      clearInterval(timer)
      client.destroy()
      await Promise.resolve()
    },
  }
}
