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
// One error for all: a stack trace for each refusal costs more than the rest of it.
const overloaded = unavailable('the service is overloaded; try again')

/** Returns 503 while the event loop lags. */
export function shedWhenOverloaded(
  server: FastifyInstance,
  options: {
    metrics: Metrics
    loopDelayMs?: (() => number) | undefined
  },
): void {
  const loopDelayMs = options.loopDelayMs ?? watchLoopDelay(server)
  server.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.neverShed === true || loopDelayMs() <= maxLoopDelayMs) return done()
    options.metrics.shed.inc({ point: 'event_loop' })
    throw overloaded
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
