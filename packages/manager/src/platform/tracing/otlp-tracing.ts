// Creates spans with the OpenTelemetry SDK and sends them to a collector as OTLP over HTTP in JSON. Nothing is
// registered globally and parents are passed explicitly, so only the spans that are created here exist. Only this file
// and span-export.ts import OpenTelemetry.
import { AsyncLocalStorage } from 'node:async_hooks'
import { ROOT_CONTEXT, type Span as OtelSpan, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace'
import { version } from '../../version.ts'
import { type ExportOptions, createSpanProcessor } from './span-export.ts'
import { describeStatement } from './statement-summary.ts'
import type { TraceContext } from './trace-context.ts'
import type { Call, Ending, RequestEnding, RequestSpan, Span, Statement, Tracing } from './tracing.ts'

type Options = ExportOptions & {
  serviceName: string
  environment: string
  sampleRatio: number
  closeMs: number
}
type Attributes = Record<string, string | number>

// Further statements are only counted: a request with thousands of statements must not displace the spans of other
// requests.
const maxStatements = 100
// Methods that OpenTelemetry defines. All others become _OTHER, which keeps the number of names low.
const methods = new Set([
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'QUERY',
  'TRACE',
])

class OtlpSpan implements RequestSpan {
  readonly span: OtelSpan
  readonly context: TraceContext
  #statements = 0
  /**
   * Functions that create the statement spans when this span ends. If it never ends, its statements are not exported.
   */
  readonly #endings: (() => void)[] = []

  constructor(span: OtelSpan, state: string) {
    this.span = span
    const { traceId, spanId, traceFlags: flags } = span.spanContext()
    // The state is passed on but never exported, because callers choose its text.
    this.context = { traceId, spanId, flags, state }
  }

  tryCountStatement(): boolean {
    return this.span.isRecording() && this.#statements++ < maxStatements
  }

  onEnd(make: () => void): void {
    this.#endings.push(make)
  }

  end({ status, failure }: Ending = {}): void {
    const { span } = this
    if (status !== undefined) span.setAttribute('http.response.status_code', status)
    if (failure !== undefined || (status ?? 0) >= 400) {
      span.setAttribute('error.type', failure === undefined ? String(status) : 'failed')
      span.setStatus({ code: SpanStatusCode.ERROR, ...(failure === undefined ? {} : { message: failure }) })
    }
    if (this.#statements > maxStatements)
      span.setAttribute('manager.statements_not_shown', this.#statements - maxStatements)
    for (const make of this.#endings) make()
    span.end()
  }

  /** Only 5xx responses count as errors, because 4xx responses are mistakes of the caller. */
  endRequest({ route, method, status }: RequestEnding): void {
    const { span } = this
    const known = methods.has(method)
    span.updateName(`${known ? method : 'HTTP'} ${route}`)
    span.setAttributes({ 'http.request.method': known ? method : '_OTHER', 'http.route': route })
    if (status >= 500) return this.end({ status })
    span.setAttribute('http.response.status_code', status)
    this.end()
  }
}

/** Samples the configured ratio of requests; requests with a parent follow the sampling decision of the parent. */
export function createOtlpTracing(options: Options): Tracing {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': options.serviceName,
      'service.version': version,
      'deployment.environment.name': options.environment,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.sampleRatio) }),
    spanLimits: { attributeValueLengthLimit: 256, attributeCountLimit: 32 },
    spanProcessors: [createSpanProcessor(options)],
  })
  const tracer = provider.getTracer('manager', version)
  const current = new AsyncLocalStorage<Span>()
  const start = (name: string, kind: SpanKind, attributes: Attributes, parent: TraceContext | null) => {
    const within = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote(parent))
    return new OtlpSpan(tracer.startSpan(name, { kind, attributes }, within), parent?.state ?? '')
  }
  return {
    isOn: true,
    startRequest: (incoming, requestId) =>
      start('HTTP', SpanKind.SERVER, { 'manager.request_id': requestId }, incoming),
    startCall: (parent, call) =>
      start(nameOf(call.method), SpanKind.CLIENT, callAttributes(call), parent.context),
    startWork: (name, about) => start(name, SpanKind.INTERNAL, { ...about }, null),
    within: (span, run) => current.run(span, run),
    noteStatement: (statement) => {
      const parent = current.getStore()
      if (!(parent instanceof OtlpSpan) || !parent.tryCountStatement()) return
      const endTime = performance.now()
      parent.onEnd(() => {
        const { name, attributes } = describeSpan(statement)
        const startTime = endTime - statement.durationMs
        const within = trace.setSpan(ROOT_CONTEXT, parent.span)
        tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes, startTime }, within).end(endTime)
      })
    },
    close: () => withTimeout(provider.shutdown(), options.closeMs),
  }
}

const remote = ({ traceId, spanId, flags }: TraceContext) => ({
  traceId,
  spanId,
  traceFlags: flags,
  isRemote: true,
})

const nameOf = (method: string): string => (methods.has(method) ? method : 'HTTP')

function callAttributes({ method, origin, about }: Call): Attributes {
  const { hostname, port, protocol } = new URL(origin)
  return {
    ...about,
    'http.request.method': methods.has(method) ? method : '_OTHER',
    'server.address': hostname,
    'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }
}

function describeSpan({ sql, name }: Statement): { name: string; attributes: Attributes } {
  const { operation, table } = describeStatement(sql)
  const summary = name ?? (table === null ? operation : `${operation} ${table}`)
  return {
    name: summary,
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.query.summary': summary,
      ...(table === null ? {} : { 'db.collection.name': table }),
    },
  }
}

/** Limits how long an unreachable collector can delay the shutdown. */
async function withTimeout(work: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const overdue = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeoutMs)))
  await Promise.race([work.catch(() => undefined), overdue])
  clearTimeout(timer)
}
