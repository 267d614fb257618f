// The API server: request ids, one place for errors, one log line and one measurement per request, exact content
// types, and shedding when the service is overloaded. It knows no feature.
import type { ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Pool } from 'pg'
import type { DbErrorReader } from '../postgres/db-errors.ts'
import { AppError } from '../errors.ts'
import { isRequestId, newRequestId } from '../ids.ts'
import { type Logger, logRequest } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'
import { readTraceContext } from '../tracing/trace-context.ts'
import type { RequestSpan, Tracing } from '../tracing/tracing.ts'
import { type ErrorShape, errorBody, toAppError } from './error-bodies.ts'
import { dropRest, endAfterRest, longestBodyMs, mayOverrun, watchBodies } from './arriving-bodies.ts'
import { answerBrokenRequest } from './broken-requests.ts'
import { limitConnections } from './connection-limit.ts'
import { prefersHtml } from './accept.ts'
import type { ApiServer } from './declarations.ts'
import { singleHeader } from './headers.ts'
import { errorPage } from './pages/error-page.ts'
import { sendPage } from './pages/send-page.ts'
import { shedWhenOverloaded } from './shedding.ts'
import { createUpgrades, switched } from './upgrades.ts'
import { compileValidator } from './validation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set when the gate refused the request: such requests are counted and not logged. */
    silent: boolean
    /** Set when it was the gate that refused the request. */
    isRefusedAtGate: boolean
    /** What the log line adds: who asked for what, and why it failed. */
    logFields: Record<string, unknown>
    /** The request in its trace; what we send on its behalf is below it. */
    span: RequestSpan
    /** Set when the request failed, whatever its status says: its log line is a warning, as that of a 5xx is. */
    hasFailed: boolean
  }
  interface FastifyContextConfig {
    /** The shape of the route's error bodies, and of its refusals at the gate. */
    errorShape?: ErrorShape
    /** The 404 of every address below the route's fixed beginning that is not the route's, or that cannot be read. */
    unreadable?: string
    /** Errors are pages if the client prefers HTML, past the gate, and of the shape otherwise. */
    errorPageIfAsked?: true
  }
}

export type ServerOptions = {
  log: Logger
  metrics: Metrics
  tracing: Tracing
  pool: Pool
  /** Requests that wait for a connection of the database. */
  waiting: () => number
  /** Connections the port holds at once. */
  maxConnections: number
  readDbError: DbErrorReader
  isDraining: () => boolean
  /** How long requests in flight are waited for once the server closes. */
  shutdownTimeoutMs: number
  /** How long a body may take where the route says nothing; 30 seconds by default. */
  bodyTimeoutMs?: number | undefined
  loopDelayMs?: (() => number) | undefined
}

const maxBodyBytes = 1_048_576
const defaultBodyTimeoutMs = 30_000

/** A Fastify server with everything that is the same for all routes. */
export function createServer(options: ServerOptions): ApiServer {
  const inflight = new Set<FastifyRequest>()
  const timeoutMs = options.bodyTimeoutMs ?? defaultBodyTimeoutMs
  const unreadable = new Map<string, string>()
  const upgrades = createUpgrades()
  const textBelow = (url: string): string | undefined =>
    unreadable.entries().find(([beginning]) => url.startsWith(beginning))?.[1]
  const loggerInstance: FastifyBaseLogger = options.log
  const server = fastify({
    loggerInstance,
    // We log one line per request, at its end.
    logController: new LogController({ disableRequestLogging: true }),
    // A separate logger for every request costs more than naming the request in the one line it usually writes.
    childLoggerFactory: (logger) => logger,
    genReqId: (request) => {
      const header = singleHeader(request, 'x-request-id')
      return header !== null && header !== 'repeated' && isRequestId(header.value)
        ? header.value
        : newRequestId()
    },
    // Readiness makes the proxy stop sending before the listener closes; what still arrives is served.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // The bodies of most routes get less time (watchBodies).
    requestTimeout: longestBodyMs,
    // A connection that sends no request within that time is closed, also one that never sends a byte.
    http: {
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      shouldUpgradeCallback: upgrades.isWanted,
    },
    bodyLimit: maxBodyBytes,
    routerOptions: { maxParamLength: 600 },
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      const text = textBelow(request.url)
      const answer = text === undefined ? error : new AppError('not_found', text)
      // No hook runs for these.
      reply.raw.once('close', () => dropRest(request.raw, { maxBytes: maxBodyBytes, timeoutMs }))
      void sendError(answer, request, reply.header('x-request-id', request.id), options)
    },
  })
  server.setValidatorCompiler(compileValidator)
  // What a response may hold is declared for the API document; its bytes do not depend on that.
  server.setSerializerCompiler(() => JSON.stringify)
  server.addHook('onRoute', ({ url, config }) => {
    if (config?.unreadable !== undefined) unreadable.set(url.slice(0, url.indexOf(':')), config.unreadable)
    if (config?.upgrades === true) upgrades.add(url)
  })
  followRequests(server, inflight, { ...options, bodyTimeoutMs: timeoutMs })
  acceptOnlyJson(server)
  limitConnections(server.server, { max: options.maxConnections }, () =>
    options.metrics.shed.inc({ point: 'connections' }),
  )
  upgrades.serve(server.server)
  shedWhenOverloaded(server, options)
  boundBodies(server, inflight, { ...options, bodyTimeoutMs: timeoutMs })
  server.setErrorHandler((error, request, reply) => sendError(error, request, reply, options))
  server.setNotFoundHandler((request, reply) =>
    sendError(new AppError('not_found', textBelow(request.url) ?? 'no such route'), request, reply, options),
  )
  return server.withTypeProvider<TypeBoxTypeProvider>()
}

function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: ServerOptions,
): FastifyReply {
  const failure = toAppError(error, request.id, options.readDbError)
  if (failure.code === 'internal') options.log.error({ request_id: request.id, err: error }, 'request failed')
  if (failure.hint !== undefined) request.logFields['hint'] = failure.hint
  if (failure.retryAfterSeconds !== undefined)
    void reply.header('retry-after', String(failure.retryAfterSeconds))
  if (mayOverrun(request.raw, droppedBytes(request))) endAfterRest(request, reply)
  const { errorShape: declared = 'error', errorPageIfAsked = false } = request.routeOptions?.config ?? {}
  const isPageRoute = declared === 'page' && isForPage(request, failure)
  if (isPageRoute || (errorPageIfAsked && !request.isRefusedAtGate && prefersHtml(request.headers.accept)))
    return sendPage(reply, failure.status, errorPage(failure, request.id))
  // GraphQL begins after authentication: callers refused before that get the same body on every route.
  const isBefore = request.silent || (declared === 'graphql' && failure.code === 'unauthenticated')
  const body = errorBody(isBefore ? 'error' : declared, failure, request.id)
  // Clients of these routes look for the envelope, those of machine routes for the error: a refusal has both.
  const isBoth = isBefore && declared === 'envelope'
  return reply
    .code(failure.status)
    .header('cache-control', 'no-store')
    .send(isBoth ? { ...errorBody(declared, failure, request.id), ...body } : body)
}

/** The gate answers the proxy. Somebody who is not signed in gets a page if they ask for one. */
function isForPage({ isRefusedAtGate, headers }: FastifyRequest, { code }: AppError): boolean {
  const wantsPage = /(?:^|[,\s])text\/html(?:[;,\s]|$)/i.test(headers.accept ?? '')
  return !isRefusedAtGate && (wantsPage || code !== 'unauthenticated')
}

function acceptOnlyJson(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  const parseJson = server.getDefaultJsonParser('error', 'error')
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (!isPlainJson(request.headers['content-type'] ?? ''))
      done(
        new AppError('unsupported_media_type', 'send the body as application/json; charset=utf-8'),
        undefined,
      )
    else
      void parseJson(request, body as string, (error: Error | null, value?: unknown) =>
        done(error === null ? null : asBadJson(error), value),
      )
  })
}

const asBadJson = (error: Error): AppError | FastifyError =>
  (error as FastifyError).code === 'FST_ERR_CTP_EMPTY_JSON_BODY'
    ? (error as FastifyError)
    : new AppError('bad_request', 'the request body is not valid JSON')

/** Exactly application/json, with no parameter but charset=utf-8. */
const isPlainJson = (type: string): boolean => /^application\/json(?:; ?charset="?utf-8"?)?$/i.test(type)

/** Every request is counted while it is in flight, and measured and logged when it ends. */
function followRequests(
  server: FastifyInstance,
  inflight: Set<FastifyRequest>,
  options: ServerOptions & { bodyTimeoutMs: number },
): void {
  server.decorateRequest('arrivedAt', 0)
  server.decorateRequest('silent', false)
  server.decorateRequest('isRefusedAtGate', false)
  server.decorateRequest('logFields')
  server.decorateRequest('span')
  server.decorateRequest('hasFailed', false)
  const { tracing } = options
  options.metrics.watch({ pool: options.pool, waiting: options.waiting, inflight })
  server.addHook('onRequest', (request, reply, done) => {
    request.logFields = {}
    request.span = tracing.startRequest(readTraceContext(request.headers), request.id)
    request.arrivedAt = performance.now()
    inflight.add(request)
    // On close rather than on the end of the response: a client that closes the connection is counted and logged too.
    reply.raw.once('close', () => {
      inflight.delete(request)
      if (!request.raw.complete)
        dropRest(request.raw, { maxBytes: droppedBytes(request), timeoutMs: options.bodyTimeoutMs })
      // What ends because the client has left learns it from this event too, and then says so in the line.
      if (reply.raw.writableFinished) observe(request, reply, options)
      else setImmediate(observe, request, reply, options)
    })
    void reply.header('x-request-id', request.id)
    if (options.isDraining()) void reply.header('connection', 'close')
    done()
  })
  if (!tracing.isOn) return
  // Twice: reading a body leaves the first one.
  server.addHook('onRequest', (request, _reply, done) => tracing.within(request.span, done))
  server.addHook('preHandler', (request, _reply, done) => tracing.within(request.span, done))
}

/** No body is waited for without end, neither while the server runs nor while it closes. */
function boundBodies(
  server: FastifyInstance,
  inflight: ReadonlySet<FastifyRequest>,
  limits: { bodyTimeoutMs: number; shutdownTimeoutMs: number },
): void {
  // Node's own answer leaves the connection open for the body, however long that is.
  server.server.on('checkExpectation', (_request, response: ServerResponse) =>
    response.writeHead(417, { connection: 'close', 'cache-control': 'no-store' }).end(),
  )
  const bodies = watchBodies(server.server, inflight, {
    ...limits,
    end: (socket) => answerBrokenRequest({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket),
  })
  server.addHook('preClose', async () => bodies.close())
}

/** A caller who was refused early still gets to read why, if the body is one that the route would have read. */
const droppedBytes = ({ routeOptions }: FastifyRequest): number =>
  Math.max(maxBodyBytes, routeOptions?.bodyLimit ?? 0)

function observe(request: FastifyRequest, reply: FastifyReply, { metrics, log }: ServerOptions): void {
  const route = request.routeOptions.url ?? 'unknown'
  const { method, id, span } = request
  const [status, elapsedMs] = [String(reply.statusCode), reply.elapsedTime]
  metrics.observeRequest({ route, method, status }, elapsedMs / 1_000)
  if (request.silent) return
  // Only of callers who are known: anyone could fill the collector. A socket is open for hours, which is no duration of a
  // request.
  const isKnown = request.isFromProxy || request.machine !== undefined || request.actor !== undefined
  if (isKnown && reply.statusCode !== switched) span.endRequest({ route, method, status: reply.statusCode })
  if (!reply.raw.writableFinished && reply.statusCode !== switched) request.logFields['aborted'] = true
  const duration_ms = Math.round(elapsedMs * 10) / 10
  const level = request.hasFailed || reply.statusCode >= 500 ? 'warn' : 'info'
  const trace_id = span.context?.traceId
  logRequest(log, level, { request_id: id, trace_id, route, method, status, duration_ms }, request.logFields)
}
