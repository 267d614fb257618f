// The API server: request ids, central error handling, one log line and one measurement per request, exact
// content types, and load shedding. It contains no feature code.
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
import type { DbErrorMapper } from '../postgres/db-errors.ts'
import { AppError } from '../errors.ts'
import { isRequestId, newRequestId } from '../ids.ts'
import { type Logger, logRequest } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'
import { readTraceContext } from '../tracing/trace-context.ts'
import type { RequestSpan, Tracing } from '../tracing/tracing.ts'
import { type ErrorShape, createErrorBody, scimMediaType, toAppError } from './error-bodies.ts'
import {
  closeAfterDrain,
  drainBody,
  maxBodyTimeoutMs,
  canExceedLimit,
  watchBodies,
} from './arriving-bodies.ts'
import { respondToBrokenRequest } from './broken-requests.ts'
import { limitConnections } from './connection-limit.ts'
import { prefersHtml } from './accept.ts'
import type { ApiServer } from './declarations.ts'
import { readSingleHeader } from './headers.ts'
import { createErrorPage } from './pages/error-page.ts'
import { sendPage } from './pages/send-page.ts'
import { shedWhenOverloaded } from './shedding.ts'
import { createUpgrades, switchingProtocols } from './upgrades.ts'
import { compileValidator } from './validation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set when the caller was rejected before it was identified: such requests are counted but not logged. */
    isUnlogged: boolean
    /** Set when the gate rejected the request. */
    isRejectedByGate: boolean
    /** Fields for the log line: the caller, the operation, and the reason for a failure. */
    logFields: Record<string, unknown>
    /** The span of the request; outgoing calls on its behalf are its children. */
    span: RequestSpan
    /**
     * Set when the request failed, regardless of its status. Its log line is then a warning, as for a 5xx response.
     */
    hasFailed: boolean
  }
  interface FastifyContextConfig {
    /** Shape of the route's error bodies, and of its rejections at the gate. */
    errorShape?: ErrorShape
    /** Message of the 404 for URLs below the route's fixed prefix that do not match the route or cannot be decoded. */
    notFoundText?: string
    /** Errors after the gate are pages if the client prefers HTML, and have the error shape otherwise. */
    prefersErrorPage?: true
  }
}

/** Dependencies and limits of the server. */
export type ServerOptions = {
  log: Logger
  metrics: Metrics
  tracing: Tracing
  pool: Pool
  /** Returns the number of requests that wait for a database connection. */
  waiting: () => number
  /** Maximum number of open connections. */
  maxConnections: number
  mapDbError: DbErrorMapper
  isDraining: () => boolean
  /** How long the server waits for requests in flight when it shuts down. */
  shutdownTimeoutMs: number
  /** Time limit for bodies on routes without their own limit; 30 s by default. */
  bodyTimeoutMs?: number | undefined
  loopDelayMs?: (() => number) | undefined
}

const maxBodyBytes = 1_048_576
const defaultBodyTimeoutMs = 30_000

/** Creates a Fastify server with everything that all routes share. */
export function createServer(options: ServerOptions): ApiServer {
  const inflight = new Set<FastifyRequest>()
  const timeoutMs = options.bodyTimeoutMs ?? defaultBodyTimeoutMs
  const notFoundTexts = new Map<string, string>()
  const upgrades = createUpgrades()
  const findNotFoundText = (url: string): string | undefined =>
    notFoundTexts.entries().find(([prefix]) => url.startsWith(prefix))?.[1]
  const loggerInstance: FastifyBaseLogger = options.log
  const server = fastify({
    loggerInstance,
    // The hooks log one line when a request ends.
    logController: new LogController({ disableRequestLogging: true }),
    // A separate logger for every request costs more than naming the request in the one line it usually writes.
    childLoggerFactory: (logger) => logger,
    genReqId: (request) => {
      const header = readSingleHeader(request, 'x-request-id')
      return header !== null && header !== 'repeated' && isRequestId(header.value)
        ? header.value
        : newRequestId()
    },
    // When readiness fails, the proxy stops sending requests before the listener closes. Requests that still
    // arrive are served.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // Most routes have a shorter body timeout (watchBodies).
    requestTimeout: maxBodyTimeoutMs,
    // A connection is closed if it sends no request within `headersTimeout`, even if it never sends a byte.
    http: {
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      shouldUpgradeCallback: upgrades.shouldUpgrade,
    },
    bodyLimit: maxBodyBytes,
    routerOptions: { maxParamLength: 600 },
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    clientErrorHandler: respondToBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      const text = findNotFoundText(request.url)
      const responseError = text === undefined ? error : new AppError('not_found', text)
      // Fastify runs no hooks for framework errors, so the body is drained here.
      reply.raw.once('close', () => drainBody(request.raw, { maxBytes: maxBodyBytes, timeoutMs }))
      void sendError(responseError, request, reply.header('x-request-id', request.id), options)
    },
  })
  server.setValidatorCompiler(compileValidator)
  // Response schemas are declared for the API document and do not affect serialization.
  server.setSerializerCompiler(() => JSON.stringify)
  server.addHook('onRoute', ({ url, config }) => {
    if (config?.notFoundText !== undefined)
      notFoundTexts.set(url.slice(0, url.indexOf(':')), config.notFoundText)
    if (config?.acceptsUpgrade === true) upgrades.add(url)
  })
  trackRequests(server, inflight, { ...options, bodyTimeoutMs: timeoutMs })
  acceptOnlyJson(server)
  limitConnections(server.server, { max: options.maxConnections }, () =>
    options.metrics.shed.inc({ point: 'connections' }),
  )
  upgrades.serve(server.server)
  shedWhenOverloaded(server, options)
  limitBodyTimes(server, inflight, { ...options, bodyTimeoutMs: timeoutMs })
  server.setErrorHandler((error, request, reply) => sendError(error, request, reply, options))
  server.setNotFoundHandler((request, reply) => {
    const text = findNotFoundText(request.url) ?? 'no such route'
    return sendError(new AppError('not_found', text), request, reply, options)
  })
  return server.withTypeProvider<TypeBoxTypeProvider>()
}

function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: ServerOptions,
): FastifyReply {
  const failure = toAppError(error, request.id, options.mapDbError)
  if (failure.code === 'internal') options.log.error({ request_id: request.id, err: error }, 'request failed')
  if (failure.hint !== undefined) request.logFields['hint'] = failure.hint
  if (failure.retryAfterSeconds !== undefined)
    void reply.header('retry-after', String(failure.retryAfterSeconds))
  if (canExceedLimit(request.raw, getDrainableBytes(request))) closeAfterDrain(request, reply)
  const { errorShape: declaredShape = 'error', prefersErrorPage = false } = request.routeOptions?.config ?? {}
  const isPageRoute = declaredShape === 'page' && shouldSendPage(request, failure)
  if (isPageRoute || (prefersErrorPage && !request.isRejectedByGate && prefersHtml(request.headers.accept)))
    return sendPage(reply, failure.status, createErrorPage(failure, request.id))
  // A SCIM client gets the body of its protocol for everything but a rejection at the gate, which is for the proxy.
  const isScim = declaredShape === 'scim' && !request.isRejectedByGate
  if (isScim) void reply.type(scimMediaType)
  if (isScim && failure.code === 'unauthenticated') void reply.header('www-authenticate', 'Bearer')
  // GraphQL starts after authentication: callers rejected before that get the same body on every route.
  const isBeforeRoute =
    !isScim && (request.isUnlogged || (declaredShape === 'graphql' && failure.code === 'unauthenticated'))
  const body = createErrorBody(isBeforeRoute ? 'error' : declaredShape, failure, request.id)
  // Clients of envelope routes expect the envelope, and clients of machine routes expect the error shape. A rejection
  // at the gate contains both.
  const needsBothShapes = isBeforeRoute && declaredShape === 'envelope'
  return reply
    .code(failure.status)
    .header('cache-control', 'no-store')
    .send(needsBothShapes ? { ...createErrorBody(declaredShape, failure, request.id), ...body } : body)
}

/**
 * Rejections at the gate are meant for the proxy and are never pages. An unauthenticated caller gets a page
 * only if it accepts HTML.
 */
function shouldSendPage({ isRejectedByGate, headers }: FastifyRequest, { code }: AppError): boolean {
  const wantsPage = /(?:^|[,\s])text\/html(?:[;,\s]|$)/i.test(headers.accept ?? '')
  return !isRejectedByGate && (wantsPage || code !== 'unauthenticated')
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
        done(error === null ? null : toJsonError(error), value),
      )
  })
}

const toJsonError = (error: Error): AppError | FastifyError =>
  (error as FastifyError).code === 'FST_ERR_CTP_EMPTY_JSON_BODY'
    ? (error as FastifyError)
    : new AppError('bad_request', 'the request body is not valid JSON')

/** Whether the type is exactly application/json, with no parameter except charset=utf-8. */
const isPlainJson = (type: string): boolean => /^application\/json(?:; ?charset="?utf-8"?)?$/i.test(type)

/** Counts every request while it is in flight, and measures and logs it when it ends. */
function trackRequests(
  server: FastifyInstance,
  inflight: Set<FastifyRequest>,
  options: ServerOptions & { bodyTimeoutMs: number },
): void {
  server.decorateRequest('arrivedAt', 0)
  server.decorateRequest('isUnlogged', false)
  server.decorateRequest('isRejectedByGate', false)
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
    // The close event also counts and logs requests whose client disconnects before the end of the response.
    reply.raw.once('close', () => {
      inflight.delete(request)
      if (!request.raw.complete)
        drainBody(request.raw, { maxBytes: getDrainableBytes(request), timeoutMs: options.bodyTimeoutMs })
      // Work that stops on a disconnect also listens to this event. It must add its log fields before this listener
      // runs.
      if (reply.raw.writableFinished) recordRequest(request, reply, options)
      else setImmediate(recordRequest, request, reply, options)
    })
    void reply.header('x-request-id', request.id)
    if (options.isDraining()) void reply.header('connection', 'close')
    done()
  })
  if (!tracing.isOn) return
  // The span is entered twice, because reading a body leaves the first context.
  server.addHook('onRequest', (request, _reply, done) => tracing.runWithin(request.span, done))
  server.addHook('preHandler', (request, _reply, done) => tracing.runWithin(request.span, done))
}

/** Limits how long the server waits for bodies, including during shutdown. */
function limitBodyTimes(
  server: FastifyInstance,
  inflight: ReadonlySet<FastifyRequest>,
  limits: { bodyTimeoutMs: number; shutdownTimeoutMs: number },
): void {
  // The default response of Node would keep the connection open until the body arrives, however long that
  // takes.
  server.server.on('checkExpectation', (_request, response: ServerResponse) =>
    response.writeHead(417, { connection: 'close', 'cache-control': 'no-store' }).end(),
  )
  const bodies = watchBodies(server.server, inflight, {
    ...limits,
    end: (socket) => respondToBrokenRequest({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket),
  })
  server.addHook('preClose', async () => bodies.close())
}

/** Returns how many bytes of a rejected body are read, so that the caller can still read the error. */
const getDrainableBytes = ({ routeOptions }: FastifyRequest): number =>
  Math.max(maxBodyBytes, routeOptions?.bodyLimit ?? 0)

function recordRequest(request: FastifyRequest, reply: FastifyReply, { metrics, log }: ServerOptions): void {
  const route = request.routeOptions.url ?? 'unknown'
  const { method, id, span } = request
  const [status, elapsedMs] = [String(reply.statusCode), reply.elapsedTime]
  metrics.observeRequest({ route, method, status }, elapsedMs / 1_000)
  if (request.isUnlogged) return
  // Spans are recorded only for known callers: anyone else could fill the collector. A WebSocket is open for hours,
  // which is not the duration of a request.
  const isKnownCaller = request.isFromProxy || request.machine !== undefined || request.actor !== undefined
  if (isKnownCaller && reply.statusCode !== switchingProtocols)
    span.endRequest({ route, method, status: reply.statusCode })
  if (!reply.raw.writableFinished && reply.statusCode !== switchingProtocols)
    request.logFields['aborted'] = true
  const duration_ms = Math.round(elapsedMs * 10) / 10
  const level = request.hasFailed || reply.statusCode >= 500 ? 'warn' : 'info'
  const trace_id = span.context?.traceId
  logRequest(log, level, { request_id: id, trace_id, route, method, status, duration_ms }, request.logFields)
}
