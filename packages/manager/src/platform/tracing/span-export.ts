// The way of ended spans to the collector: a bounded queue, batches, one deadline for each. Nothing waits for it: what
// the collector does not take in time is dropped and counted.
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

export type ExportOptions = {
  /** Of the collector, with the path for traces. */
  url: string
  /** What the collector gets as Authorization. */
  authorization: string | null
  /** Ended spans that wait or are being sent. */
  maxQueue: number
  exportTimeoutMs: number
  log: Logger
  spans: SpanCounter
}

const maxBatch = 512
const everyMs = 1_000
// ExportResultCode.SUCCESS of @opentelemetry/core.
const succeeded = 0
// A response that trickles in keeps the exporter's own timeout from ending it.
const graceMs = 1_000

/** Takes ended spans, at most `maxQueue` at once, and exports them in the background. */
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
      // Counted here, and not by the queue alone: what is being sent takes memory too.
      if (pending >= maxQueue) return spans.inc({ outcome: 'dropped' })
      pending++
      batches.onEnd(span)
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  }
}

const isSampled = (span: ReadableSpan): boolean => (span.spanContext().traceFlags & sampledFlag) !== 0

/** Exports within the time, and says once when the collector goes away and when it is back. */
function createCountingExporter(options: ExportOptions, onDone: (count: number) => void): SpanExporter {
  const { url, authorization, maxQueue, exportTimeoutMs, log, spans } = options
  const exporter = new OTLPTraceExporter({
    url,
    headers: authorization === null ? {} : { Authorization: authorization },
    timeoutMillis: exportTimeoutMs,
    concurrencyLimit: Math.ceil(maxQueue / maxBatch) + 1,
  })
  let isAway = false
  const note = (count: number, isTaken: boolean): void => {
    onDone(count)
    spans.inc({ outcome: isTaken ? 'exported' : 'failed' }, count)
    if (isTaken === !isAway) return
    isAway = !isTaken
    // Never the reason: it may quote the response, or the address with its credentials.
    if (isAway) log.warn('the collector of traces does not take spans; they are dropped until it does')
    else log.info('the collector of traces takes spans again')
  }
  return {
    export: (batch, done) => {
      let isNoted = false
      const noteOnce = (isTaken: boolean): void => {
        clearTimeout(deadline)
        if (!isNoted) note(batch.length, isTaken)
        isNoted = true
      }
      // The next batch follows a little later, when the processor gives this one up too.
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
