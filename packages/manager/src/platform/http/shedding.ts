// Requests that are refused before they cost anything, because the service cannot keep up.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import { unavailable } from '../errors.ts'
import type { Metrics } from '../metrics.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Served even while the service sheds load. */
    neverShed?: true
  }
}

const maxLoopDelayMs = 1_000
const resolutionMs = 10
const sampleEveryMs = 1_000

/** Answers 503 while the event loop lags, or while too many requests wait for a database connection. */
export function shedWhenOverloaded(
  server: FastifyInstance,
  options: {
    /** Requests that wait for a database connection. */
    waiting: () => number
    maxWaiting: number
    metrics: Metrics
    loopDelayMs?: (() => number) | undefined
  },
): void {
  const { waiting, maxWaiting, metrics } = options
  const loopDelayMs = options.loopDelayMs ?? watchLoopDelay(server)
  const shed = (point: 'event_loop' | 'db_pool'): never => {
    metrics.shed.inc({ point })
    throw unavailable('the service is overloaded; try again')
  }
  server.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.neverShed !== true) {
      if (loopDelayMs() > maxLoopDelayMs) shed('event_loop')
      if (waiting() >= maxWaiting) shed('db_pool')
    }
    done()
  })
}

/**
 * Returns a function that returns how late the event loop was in the last second, on average. It is watched once the
 * server listens: what the start takes is no reason to refuse the first request.
 */
function watchLoopDelay(server: FastifyInstance): () => number {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  let delayMs = 0
  let timer: NodeJS.Timeout | undefined
  server.addHook('onListen', (done) => {
    delays.enable()
    // Nothing in here opens a file: what throws in a timer ends the process.
    timer = setInterval(() => {
      const meanMs = delays.mean / 1e6 - resolutionMs
      // No sample at all: the loop was blocked.
      delayMs = Number.isNaN(meanMs) ? Infinity : meanMs
      delays.reset()
    }, sampleEveryMs)
    timer.unref()
    done()
  })
  server.addHook('onClose', (_server, done) => {
    clearInterval(timer)
    delays.disable()
    done()
  })
  return () => delayMs
}
