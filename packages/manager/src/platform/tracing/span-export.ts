// Exports ended spans to the collector through a bounded queue, in batches that each have a deadline. No request waits
// for the export: spans that the collector does not accept in time are dropped and counted.
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace'
import type { Logger } from '../log/log.ts'
import { sampledFlag } from './trace-context.ts'
import type { SpanCounter } from './tracing.ts'

/** The collector and the limits of the export. */
export type ExportOptions = {
  /** URL of the collector, including the path for traces. */
  url: string
  /** Value of the Authorization header. */
  authorization: string | null
  /** Maximum number of ended spans that wait or are being sent. */
  maxQueue: number
  exportTimeoutMs: number
  log: Logger
  spans: SpanCounter
}

const maxBatch = 512
const everyMs = 1_000
// ExportResultCode.SUCCESS of @opentelemetry/core.
const succeeded = 0
// The timeout of the exporter does not apply to a response that trickles in, so a separate deadline ends the export.
const graceMs = 1_000

/** Queues at most `maxQueue` ended spans and exports them in the background. */
export function createSpanProcessor(options: ExportOptions): SpanProcessor {
  const { maxQueue, exportTimeoutMs, spans } = options
  let pending = 0
  const batches = new BatchSpanProcessor({
    exporter: createCountingExporter(options, (count) => (pending -= count)),
    maxQueueSize: maxQueue,
    maxExportBatchSize: Math.min(maxBatch, maxQueue),
    scheduledDelayMillis: everyMs,
    exportTimeoutMillis: exportTimeoutMs + 2 * graceMs,
  })
  return {
    onStart: () => undefined,
    onEnd: (span) => {
      if (!isSampled(span)) return
      // The limit of the queue is not enough, because spans that are being sent use memory too.
      if (pending >= maxQueue) return spans.inc({ outcome: 'dropped' })
      pending++
      batches.onEnd(span)
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  }
}

const isSampled = (span: ReadableSpan): boolean => (span.spanContext().traceFlags & sampledFlag) !== 0

/** Exports within the deadline. Logs once when the collector stops accepting spans, and once when it recovers. */
function createCountingExporter(options: ExportOptions, onDone: (count: number) => void): SpanExporter {
  const { url, authorization, maxQueue, exportTimeoutMs, log, spans } = options
  const exporter = new OTLPTraceExporter({
    url,
    headers: authorization === null ? {} : { Authorization: authorization },
    timeoutMillis: exportTimeoutMs,
    concurrencyLimit: Math.ceil(maxQueue / maxBatch) + 1,
  })
  let isFailing = false
  const note = (count: number, isAccepted: boolean): void => {
    onDone(count)
    spans.inc({ outcome: isAccepted ? 'exported' : 'failed' }, count)
    if (isAccepted === !isFailing) return
    isFailing = !isAccepted
    // The reason is not logged, because it may quote the response or the URL with its credentials.
    if (isFailing) log.warn('the trace collector does not accept spans; they are dropped until it recovers')
    else log.info('the trace collector accepts spans again')
  }
  return {
    export: (batch, done) => {
      let isNoted = false
      const noteOnce = (isAccepted: boolean): void => {
        clearTimeout(deadline)
        if (!isNoted) note(batch.length, isAccepted)
        isNoted = true
      }
      // The next batch follows slightly later, when the processor also times out.
      const deadline = setTimeout(noteOnce, exportTimeoutMs + graceMs, false)
      deadline.unref()
      exporter.export(batch, (result) => {
        const code: number = result.code
        noteOnce(code === succeeded)
        done(result)
      })
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
}
