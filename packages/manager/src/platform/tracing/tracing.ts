// Traces, opt-in. Without tracing.otlp_endpoint no module of OpenTelemetry is loaded: spans are empty, and the context a
// request came with is passed on as it is. What a span may hold is decided by the types here: names of our own, ids,
// methods, hosts and statuses; never a path, a query, a header or a value of SQL, nor a text of a caller other than the
// request id.
import type { Metrics } from '../metrics.ts'
import type { TraceContext } from './trace-context.ts'

/** How something ended: the status of HTTP if there is one, and a fixed text if it failed. */
export type Ending = { status?: number | undefined; failure?: string | undefined }
export type Span = {
  /** What others are told, in headers, logs and the audit trail; null when there is no trace. */
  readonly context: TraceContext | null
  end(ending?: Ending): void
}
export type RequestEnding = { route: string; method: string; status: number }
export type RequestSpan = Span & { endRequest(ending: RequestEnding): void }
/** A request that we send; `about` are ids of our own. */
export type Call = { method: string; origin: string; about: Readonly<Record<string, string>> }
export type Statement = { sql: string; name: string | null; durationMs: number }

export type Tracing = {
  readonly isOn: boolean
  /** The span of a request that arrives. One that is never ended is not exported. */
  startRequest(incoming: TraceContext | null, requestId: string): RequestSpan
  /** The span of a request that we send. */
  startCall(parent: Span, call: Call): Span
  /** The span of work that no request asked for; it begins a trace. */
  startWork(name: string, about: Readonly<Record<string, string | number>>): Span
  /** Runs with the span as the parent of the statements that are noted meanwhile. */
  within<T>(span: Span, run: () => T): T
  noteStatement(statement: Statement): void
  /** Exports what has ended, within a bounded time. */
  close(): Promise<void>
}

const nothing: RequestSpan = { context: null, end: () => undefined, endRequest: () => undefined }

/** Passes contexts on, and does nothing else. */
export const noTracing: Tracing = {
  isOn: false,
  startRequest: (incoming) => (incoming === null ? nothing : { ...nothing, context: incoming }),
  startCall: (parent) => parent,
  startWork: () => nothing,
  within: (_span, run) => run(),
  noteStatement: () => undefined,
  close: async () => undefined,
}

export type SpanCounter = ReturnType<typeof createSpanCounter>

export const createSpanCounter = ({ counter }: Metrics) =>
  counter(
    'svc_trace_spans_total',
    'Spans: taken by the collector (exported), not taken by it (failed), or not queued because it is too slow (dropped).',
    { outcome: ['exported', 'failed', 'dropped'] },
  )
