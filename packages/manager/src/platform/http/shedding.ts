// While the service cannot keep up, rejects requests before they cost anything.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import { unavailable } from '../errors.ts'
import type { Metrics } from '../metrics.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route is served even while the service sheds load. */
    neverShed?: true
  }
}

const maxLoopDelayMs = 1_000
const resolutionMs = 10
const sampleIntervalMs = 1_000
// All rejections share one error: a stack trace for each would cost more than the rest of the rejection.
const overloadError = unavailable('the service is overloaded; try again')

/** Rejects requests with 503 while the event loop lags by more than 1 s. */
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
    throw overloadError
  })
}

/**
 * Returns a function that returns the average delay of the event loop in the last second. Measurement starts when the
 * server listens: a slow startup is not a reason to reject the first request.
 */
function watchLoopDelay(server: FastifyInstance): () => number {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  let delayMs = 0
  let timer: NodeJS.Timeout | undefined
  server.addHook('onListen', (done) => {
    delays.enable()
    // This callback must not open a file: opening can fail, and an exception in a timer crashes the process.
    timer = setInterval(() => {
      const meanMs = delays.mean / 1e6 - resolutionMs
      // If there are no samples, the loop was blocked.
      delayMs = Number.isNaN(meanMs) ? Infinity : meanMs
      delays.reset()
    }, sampleIntervalMs)
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
