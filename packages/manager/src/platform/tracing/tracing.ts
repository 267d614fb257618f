// Tracing is opt-in. Without tracing.otlp_endpoint no OpenTelemetry module is loaded: spans are empty, and the context
// of a request is passed on unchanged. The types here limit what a span contains: internal names, ids, methods, hosts
// and statuses. A span never contains a path, a query, a header, an SQL value or caller text other than the request id.
import type { Metrics } from '../metrics.ts'
import type { TraceContext } from './trace-context.ts'

/** The result of an operation: its HTTP status, if any, and a fixed text if it failed. */
export type SpanResult = { status?: number | undefined; failure?: string | undefined }
/** An operation in a trace. */
export type Span = {
  /** The context for headers, logs and the audit trail; null if there is no trace. */
  readonly context: TraceContext | null
  end(spanResult?: SpanResult): void
}
/** The result of an incoming request. */
export type RequestResult = { route: string; method: string; status: number }
/** The span of an incoming request. */
export type RequestSpan = Span & { endRequest(requestResult: RequestResult): void }
/** An outgoing request. `spanAttributes` contains internal ids. */
export type Call = { method: string; origin: string; spanAttributes: Readonly<Record<string, string>> }
/** A finished SQL statement; only prepared statements have a name. */
export type Statement = { sql: string; name: string | null; durationMs: number }

/** Creates and exports spans. */
export type Tracing = {
  readonly isOn: boolean
  /** Starts the span of an incoming request. A span that is never ended is not exported. */
  startRequest(parentContext: TraceContext | null, requestId: string): RequestSpan
  /** Starts the span of an outgoing request. */
  startCall(parent: Span, call: Call): Span
  /** Starts the span of background work in a new trace. */
  startWork(name: string, about: Readonly<Record<string, string | number>>): Span
  /** Runs the function; its statements become children of the span. */
  runWithin<T>(span: Span, run: () => T): T
  recordStatement(statement: Statement): void
  /** Exports the ended spans within a bounded time. */
  close(): Promise<void>
}

const emptySpan: RequestSpan = { context: null, end: () => undefined, endRequest: () => undefined }

/** Propagates contexts without recording spans. */
export const noTracing: Tracing = {
  isOn: false,
  startRequest: (incoming) => (incoming === null ? emptySpan : { ...emptySpan, context: incoming }),
  startCall: (parent) => parent,
  startWork: () => emptySpan,
  runWithin: (_span, run) => run(),
  recordStatement: () => undefined,
  close: async () => undefined,
}

/** Counts spans by outcome. */
export type SpanCounter = ReturnType<typeof createSpanCounter>

/** Registers the span counter, even if tracing is off. */
export const createSpanCounter = ({ counter }: Metrics) =>
  counter(
    'svc_trace_spans_total',
    'Spans: accepted by the collector (exported), not accepted (failed), or not queued because the queue was full (dropped).',
    { outcome: ['exported', 'failed', 'dropped'] },
  )
