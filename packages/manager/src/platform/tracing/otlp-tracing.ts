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
import type { Call, SpanResult, RequestResult, RequestSpan, Span, Statement, Tracing } from './tracing.ts'

type Options = ExportOptions & {
  serviceName: string
  environment: string
  sampleRatio: number
  closeMs: number
}
type Attributes = Record<string, string | number>

// Further statements are only counted: the spans of a request with thousands of statements must not displace those of
// other requests.
const maxStatements = 100
// Methods that OpenTelemetry defines. All others become _OTHER, which limits the number of names.
const knownMethods = new Set([
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

  onEnd(createSpan: () => void): void {
    this.#endings.push(createSpan)
  }

  end({ status, failure }: SpanResult = {}): void {
    const { span } = this
    if (status !== undefined) span.setAttribute('http.response.status_code', status)
    if (failure !== undefined || (status ?? 0) >= 400) {
      span.setAttribute('error.type', failure === undefined ? String(status) : 'failed')
      span.setStatus({ code: SpanStatusCode.ERROR, ...(failure === undefined ? {} : { message: failure }) })
    }
    if (this.#statements > maxStatements)
      span.setAttribute('manager.statements_not_shown', this.#statements - maxStatements)
    for (const createSpan of this.#endings) createSpan()
    span.end()
  }

  /** Only 5xx responses count as errors, because 4xx responses are mistakes of the caller. */
  endRequest({ route, method, status }: RequestResult): void {
    const { span } = this
    const isKnownMethod = knownMethods.has(method)
    span.updateName(`${isKnownMethod ? method : 'HTTP'} ${route}`)
    span.setAttributes({ 'http.request.method': isKnownMethod ? method : '_OTHER', 'http.route': route })
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
  const spanStorage = new AsyncLocalStorage<Span>()
  const startOtlpSpan = (
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    parent: TraceContext | null,
  ) => {
    const parentContext =
      parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, toSpanContext(parent))
    return new OtlpSpan(tracer.startSpan(name, { kind, attributes }, parentContext), parent?.state ?? '')
  }
  return {
    isOn: true,
    startRequest: (incoming, requestId) =>
      startOtlpSpan('HTTP', SpanKind.SERVER, { 'manager.request_id': requestId }, incoming),
    startCall: (parent, call) =>
      startOtlpSpan(getSpanName(call.method), SpanKind.CLIENT, createCallAttributes(call), parent.context),
    startWork: (name, spanAttributes) => startOtlpSpan(name, SpanKind.INTERNAL, { ...spanAttributes }, null),
    runWithin: (span, run) => spanStorage.run(span, run),
    recordStatement: (statement) => {
      const parent = spanStorage.getStore()
      if (!(parent instanceof OtlpSpan) || !parent.tryCountStatement()) return
      const endTime = performance.now()
      parent.onEnd(() => {
        const { name, attributes } = describeSpan(statement)
        const startTime = endTime - statement.durationMs
        const parentContext = trace.setSpan(ROOT_CONTEXT, parent.span)
        tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes, startTime }, parentContext).end(endTime)
      })
    },
    close: () => withTimeout(provider.shutdown(), options.closeMs),
  }
}

const toSpanContext = ({ traceId, spanId, flags }: TraceContext) => ({
  traceId,
  spanId,
  traceFlags: flags,
  isRemote: true,
})

const getSpanName = (method: string): string => (knownMethods.has(method) ? method : 'HTTP')

function createCallAttributes({ method, origin, spanAttributes }: Call): Attributes {
  const { hostname, port, protocol } = new URL(origin)
  return {
    ...spanAttributes,
    'http.request.method': knownMethods.has(method) ? method : '_OTHER',
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
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeoutMs)))
  await Promise.race([work.catch(() => undefined), timeout])
  clearTimeout(timer)
}
