// POST /query: admits documents to execution, and formats responses and errors. Documents are interpreted, never
// compiled: caller input never becomes code.
import type {
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
  onRequestHookHandler,
  preValidationHookHandler,
} from 'fastify'
import { GraphQLError, type GraphQLSchema, execute } from 'graphql'
import type { Static } from 'typebox'
import { type AppError, badRequest, forbidden, unavailable } from '../errors.ts'
import type { ApiServer } from '../http/declarations.ts'
import { whenClosed } from '../http/close-signal.ts'
import { toAppError } from '../http/error-bodies.ts'
import type { graphqlError } from '../http/http.schemas.ts'
import { isSameOriginRequest } from '../http/origin.ts'
import { sizeProblem } from './document-size.ts'
import { type Operation, createDocuments } from './documents.ts'
import { querySchema } from './graphql.schemas.ts'
import { limits } from './limits.ts'
import { maxErrors, documentError } from './error-messages.ts'
import { rejectedResponse } from './rejected-responses.ts'
import { type Turn, createTurns } from './turns.ts'
import { findVariableErrors } from './variables.ts'

declare module 'fastify' {
  interface FastifyRequest {
    turn: Turn
  }
}

type Body = { query: string; variables: Record<string, unknown>; operationName: string | undefined }
type Result = { data?: object | null; errors?: readonly Error[] }
type Refused = { errors: readonly AppError[] }
type Shown = Static<typeof graphqlError>

/** The schema, the limits and the hooks of the GraphQL route. */
export type EndpointOptions = {
  schema: GraphQLSchema
  maxBodyBytes: number
  policy: { user: string }
  /** Returns the id of the caller: the requests of one person take turns. */
  userIdOf: (request: FastifyRequest) => string
  createContext: (request: FastifyRequest) => Record<string, unknown>
  readDbError: (error: unknown) => AppError | null
}

/** Registers POST /query, the only GraphQL route. */
export function registerGraphql(server: ApiServer, options: EndpointOptions): void {
  const { schema } = options
  const documents = createDocuments(schema)
  const newTurn = createTurns()
  server.decorateRequest('turn')

  /** Returns the operation to run, or the errors that reject it. */
  function check({ query, variables, operationName }: Body, request: FastifyRequest): Operation | Refused {
    const read = documents.read(query, operationName)
    if ('errors' in read) return read
    request.logFields['operation'] = read.operation.name?.value ?? null
    const errors = findVariableErrors(schema, read.operation, variables)
    if (errors.length > 0) return { errors }
    const problem = sizeProblem({ schema, ...read }, variables)
    return problem === null ? read : { errors: [problem] }
  }

  async function run(body: Body, request: FastifyRequest): Promise<Result> {
    request.logFields['operation'] = body.operationName ?? null
    const { turn } = request
    const isCostly = !documents.isKnown(body.query)
    // A request is not executed if its caller disconnected while it waited.
    const isDisconnected = (): boolean => request.raw.socket.destroyed
    const work = () =>
      isDisconnected() ? { errors: [unavailable('the client disconnected')] } : check(body, request)
    const checked = await turn.check(isCostly, work, (result) => isRefused(result) && !isDisconnected())
    if (isRefused(checked)) return checked
    const { document } = checked
    const { operationName, variables: variableValues } = body
    const contextValue = { ...options.createContext(request), turn, isDisconnected }
    const executed = execute({ schema, document, operationName, variableValues, contextValue })
    return Promise.race([executed, rejectedResponse(contextValue)])
  }

  /** Waits before the body is read, so that a waiting request uses little memory. */
  const waitForTurn: onRequestAsyncHookHandler = async (request, reply) => {
    request.turn = newTurn(options.userIdOf(request))
    whenClosed(reply, request.turn.leave)
    await request.turn.begin()
  }

  const config = { policy: options.policy, errorShape: 'graphql' as const }
  const route = {
    config,
    bodyLimit: options.maxBodyBytes,
    onRequest: [refuseForeign, waitForTurn],
    preValidation: refuseBatch,
    schema: querySchema,
  }
  server.post('/query', route, async (request, reply) => {
    const body = readBody(request.body)
    const { data = null, errors } = await request.turn.run(() => run(body, request))
    if (errors === undefined) return { data }
    const shown = errors.slice(0, maxErrors).map((error) => show(error, reply, options))
    request.hasFailed = true
    request.logFields['error_code'] = shown[0]?.extensions.code
    return { errors: shown, data }
  })
}

const isRefused = (checked: Operation | Refused): checked is Refused => 'errors' in checked

/** Rejects before the body is read: a page of another site must not act on behalf of its visitor. */
const refuseForeign: onRequestHookHandler = (request, _reply, done) => {
  if (isSameOriginRequest(request.raw, request.isFromProxy)) done()
  else done(forbidden('cross-origin query rejected; send it from a page of this host'))
}

/** Rejects batches, which would bypass every limit of a single document. */
const refuseBatch: preValidationHookHandler = (request, _reply, done) =>
  done(
    Array.isArray(request.body)
      ? badRequest('send one operation per request: arrays of operations are not accepted')
      : undefined,
  )

function readBody({ query, variables, operationName }: Static<typeof querySchema.body>): Body {
  if (countValues(variables, limits.variables) > limits.variables)
    throw badRequest(`variables must contain at most ${limits.variables} values`)
  return {
    query,
    variables: (variables ?? {}) as Body['variables'],
    operationName: operationName ?? undefined,
  }
}

/** Counts values, including nested ones, up to the limit. Not recursive, because callers control the depth. */
function countValues(root: unknown, limit: number): number {
  const open = [root]
  let count = 0
  while (open.length > 0 && count <= limit) {
    const value = open.pop()
    count++
    if (value === null || typeof value !== 'object') continue
    for (const inner of Object.values(value)) {
      if (open.length > limit) return open.length
      open.push(inner)
    }
  }
  return count
}

/** Formats an error for the caller. An error without a path occurred before execution, so it sets the status. */
function show(error: Error, reply: FastifyReply, options: EndpointOptions): Shown {
  const { path, originalError } = error as { path?: Shown['path']; originalError?: unknown }
  const cause = originalError ?? error
  // Errors of graphql-js about the document refer to its nodes; any other GraphQLError is a bug in a resolver.
  const failure =
    cause instanceof GraphQLError && cause.nodes !== undefined
      ? documentError(cause)
      : toAppError(cause, reply.request.id, options.readDbError)
  if (failure.code === 'internal')
    reply.log.error({ request_id: reply.request.id, err: cause, path }, 'resolver failed')
  if (failure.status >= 500 || path === undefined) void reply.code(failure.status)
  if (failure.retryAfterSeconds !== undefined)
    void reply.header('retry-after', String(failure.retryAfterSeconds))
  const extensions = { code: failure.code, request_id: reply.request.id }
  return { message: failure.message, ...(path === undefined ? {} : { path }), extensions }
}
