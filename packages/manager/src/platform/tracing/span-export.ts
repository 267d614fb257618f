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
const exportIntervalMs = 1_000
// ExportResultCode.SUCCESS of @opentelemetry/core.
const successCode = 0
// The exporter's own timeout does not apply to a response that arrives byte by byte, so a separate deadline ends the
// export.
const graceMs = 1_000

/** Queues at most `maxQueue` ended spans and exports them in the background. */
export function createSpanProcessor(options: ExportOptions): SpanProcessor {
  const { maxQueue, exportTimeoutMs, spans } = options
  let pendingCount = 0
  const batchProcessor = new BatchSpanProcessor({
    exporter: createCountingExporter(options, (count) => (pendingCount -= count)),
    maxQueueSize: maxQueue,
    maxExportBatchSize: Math.min(maxBatch, maxQueue),
    scheduledDelayMillis: exportIntervalMs,
    exportTimeoutMillis: exportTimeoutMs + 2 * graceMs,
  })
  return {
    onStart: () => undefined,
    onEnd: (span) => {
      if (!isSampled(span)) return
      // The limit of the queue is not enough, because spans that are being sent use memory too.
      if (pendingCount >= maxQueue) return spans.inc({ outcome: 'dropped' })
      pendingCount++
      batchProcessor.onEnd(span)
    },
    forceFlush: () => batchProcessor.forceFlush(),
    shutdown: () => batchProcessor.shutdown(),
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
  const recordResult = (count: number, isAccepted: boolean): void => {
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
      let isRecorded = false
      const recordOnce = (isAccepted: boolean): void => {
        clearTimeout(deadline)
        if (!isRecorded) recordResult(batch.length, isAccepted)
        isRecorded = true
      }
      // The next batch follows slightly later, when the processor also times out.
      const deadline = setTimeout(recordOnce, exportTimeoutMs + graceMs, false)
      deadline.unref()
      exporter.export(batch, (result) => {
        const code: number = result.code
        recordOnce(code === successCode)
        done(result)
      })
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
}
