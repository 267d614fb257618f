// The API server: request ids, one place for errors, one log line and one measurement per request, exact content
// types, and shedding when the service is overloaded. It knows no feature.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
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
import type { DbErrorReader } from '../db/db-errors.ts'
import { AppError } from '../errors.ts'
import { isRequestId, newId } from '../ids.ts'
import { type Logger, logRequest } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'
import { type ErrorShape, errorBody, toAppError } from './error-bodies.ts'
import { limitConnections } from './connection-limit.ts'
import type { ApiServer } from './declarations.ts'
import { singleHeader } from './headers.ts'
import { shedWhenOverloaded } from './shedding.ts'
import { compileValidator } from './validation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set when the gate refused the request: such requests are counted and not logged. */
    silent: boolean
    /** What the log line adds: who asked for what, and why it failed. */
    logFields: Record<string, unknown>
    /** Set when the request failed, whatever its status says: its log line is a warning, as that of a 5xx is. */
    hasFailed: boolean
  }
  interface FastifyContextConfig {
    /** The shape of the route's error bodies, and of its refusals at the gate. */
    errorShape?: ErrorShape
  }
}

export type ServerOptions = {
  log: Logger
  metrics: Metrics
  pool: Pool
  maxWaiting: number
  /** Connections the port holds at once. */
  maxConnections: number
  readDbError: DbErrorReader
  isDraining: () => boolean
  loopDelayMs?: (() => number) | undefined
}

/** A Fastify server with everything that is the same for all routes. */
export function createServer(options: ServerOptions): ApiServer {
  const inflight = new Set<FastifyRequest>()
  const loggerInstance: FastifyBaseLogger = options.log
  const server = fastify({
    loggerInstance,
    // We log one line per request, at its end.
    logController: new LogController({ disableRequestLogging: true }),
    // A separate logger for every request costs more than naming the request in the one line it usually writes.
    childLoggerFactory: (logger) => logger,
    genReqId: (request) => {
      const header = singleHeader(request, 'x-request-id')
      return header !== null && header !== 'repeated' && isRequestId(header.value) ? header.value : newId()
    },
    // Readiness makes the proxy stop sending before the listener closes; what still arrives is served.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: 30_000,
    // A connection that sends no request within that time is closed, also one that never sends a byte.
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000 },
    bodyLimit: 1_048_576,
    routerOptions: { maxParamLength: 600 },
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply, options),
  })
  server.setValidatorCompiler(compileValidator)
  // What a response may hold is declared for the API document; its bytes do not depend on that.
  server.setSerializerCompiler(() => JSON.stringify)
  server.decorateRequest('silent', false)
  server.decorateRequest('logFields')
  server.decorateRequest('hasFailed', false)
  options.metrics.watch({ pool: options.pool, inflight })
  server.addHook('onRequest', (request, reply, done) => {
    request.logFields = {}
    inflight.add(request)
    // On close rather than on the end of the response: a client that closes the connection is counted and logged too.
    reply.raw.once('close', () => {
      inflight.delete(request)
      // What ends because the client has left learns it from this event too, and then says so in the line.
      if (reply.raw.writableFinished) observe(request, reply, options)
      else setImmediate(observe, request, reply, options)
    })
    void reply.header('x-request-id', request.id)
    if (options.isDraining()) void reply.header('connection', 'close')
    done()
  })
  acceptOnlyJson(server)
  limitConnections(server.server, { max: options.maxConnections }, () =>
    options.metrics.shed.inc({ point: 'connections' }),
  )
  shedWhenOverloaded(server, options)
  server.addHook('preClose', async () => closeWhenIdle(server, inflight))
  server.setErrorHandler((error, request, reply) => sendError(error, request, reply, options))
  server.setNotFoundHandler((request, reply) =>
    sendError(new AppError('not_found', 'no such route'), request, reply, options),
  )
  return server.withTypeProvider<TypeBoxTypeProvider>()
}

const byParserCode: Record<string, [number, string]> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
}

/**
 * What is no HTTP never becomes a request. After the head of a response nothing is written: it would look like body.
 */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  const { _httpMessage: answer } = socket as { _httpMessage?: ServerResponse }
  if (socket.writable && answer?.headersSent !== true && error.code !== 'ECONNRESET') {
    const [status, reason] = byParserCode[error.code ?? ''] ?? [400, 'Bad Request']
    const body = '{"error":"the request is malformed","code":"bad_request"}'
    socket.write(
      `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroySoon()
}

function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: ServerOptions,
): FastifyReply {
  const failure = toAppError(error, request.id, options.readDbError)
  if (failure.code === 'internal') options.log.error({ request_id: request.id, err: error }, 'request failed')
  if (failure.retryAfterSeconds !== undefined)
    void reply.header('retry-after', String(failure.retryAfterSeconds))
  const declared = request.routeOptions?.config?.errorShape ?? 'error'
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

/** Once no request is in flight, connections that never sent a whole one need not be waited for. */
function closeWhenIdle(server: FastifyInstance, inflight: ReadonlySet<FastifyRequest>): void {
  const timer = setInterval(() => {
    if (inflight.size > 0) return
    server.server.closeAllConnections()
    clearInterval(timer)
  }, 50)
  timer.unref()
}

function observe(request: FastifyRequest, reply: FastifyReply, { metrics, log }: ServerOptions): void {
  const route = request.routeOptions.url ?? 'unknown'
  const { method, id } = request
  const [status, elapsedMs] = [String(reply.statusCode), reply.elapsedTime]
  metrics.observeRequest({ route, method, status }, elapsedMs / 1_000)
  if (request.silent) return
  if (!reply.raw.writableFinished) request.logFields['aborted'] = true
  const duration_ms = Math.round(elapsedMs * 10) / 10
  const level = request.hasFailed || reply.statusCode >= 500 ? 'warn' : 'info'
  logRequest(log, level, { request_id: id, route, method, status, duration_ms }, request.logFields)
}
