import { type CloseCode, closeCodes } from '../../platform/sockets/live-socket.ts'
import type { MetricFactory } from '../../platform/metrics.ts'
import type { FanOutMetrics } from './fan-out.service.ts'

export type SocketMetrics = ReturnType<typeof createSocketMetrics>

const codes = Object.values(closeCodes).map((code) => `${code}` as const)

export function createSocketMetrics({ computedGauge, counter, histogram }: MetricFactory) {
  let watchedSockets = { size: 0 }
  computedGauge('svc_ws_connections', 'Open websockets of this process.', () => watchedSockets.size)
  const sentCounter = counter('svc_ws_sent_total', 'Hints written to websockets.')
  const droppedCounter = counter('svc_ws_dropped_total', 'Dropped hints, by reason.', {
    reason: ['slow', 'backlog', 'joining'],
  })
  const closedCounter = counter(
    'svc_ws_closed_total',
    'Closed websockets, by the close code that this process sent.',
    {
      code: [...codes, 'client'],
    },
  )
  const refusedCounter = counter(
    'svc_ws_refused_total',
    'Handshakes rejected with 503, by exhausted limit.',
    {
      limit: ['process', 'project', 'joining'],
    },
  )
  const fanoutSeconds = histogram(
    'svc_ws_fanout_seconds',
    'Time from the start of a fan-out to its last write to a websocket of this process.',
    { buckets: [0.0001, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5] },
  )
  const fanOut: FanOutMetrics = {
    onSent: (count) => sentCounter.inc(count),
    onDropped: (reason, count) => droppedCounter.inc({ reason }, count),
    onDone: (seconds) => fanoutSeconds.observe(seconds),
  }
  return {
    fanOut,
    refused: refusedCounter,
    /** Sets the source of the connection gauge. */
    watch: (sockets: { size: number }): void => void (watchedSockets = sockets),
    onDropped: (): void => droppedCounter.inc({ reason: 'slow' }),
    onClosed: (code: CloseCode | null): void =>
      closedCounter.inc({ code: code === null ? 'client' : `${code}` }),
    hintsLost: counter('svc_hints_lost_total', 'Hints that could not be sent to other processes.'),
    pubsubLag: histogram(
      'svc_pubsub_lag_seconds',
      'Time from publishing a hint to its receipt in another process.',
      {
        buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      },
    ),
  }
}
