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
import { runWhenClosed } from '../http/close-signal.ts'
import { toAppError } from '../http/error-bodies.ts'
import type { graphqlError } from '../http/http.schemas.ts'
import { isSameOriginRequest } from '../http/origin.ts'
import type { TruncatedList } from './connections.ts'
import { findSizeProblem } from './document-size.ts'
import { type Operation, createDocuments } from './documents.ts'
import { querySchema } from './graphql.schemas.ts'
import { limits } from './limits.ts'
import { maxErrors, createDocumentError } from './error-messages.ts'
import { waitForRejection } from './rejected-responses.ts'
import { type Turn, createTurns } from './turns.ts'
import { findVariableErrors } from './variables.ts'

declare module 'fastify' {
  interface FastifyRequest {
    turn: Turn
  }
}

type Body = { query: string; variables: Record<string, unknown>; operationName: string | undefined }
type Result = { data?: object | null; errors?: readonly Error[]; extensions?: Extensions }
type Extensions = { truncatedLists: TruncatedList[] }
type RejectedRequest = { errors: readonly AppError[] }
type FormattedError = Static<typeof graphqlError>

/** The schema, the limits and the hooks of the GraphQL route. */
export type EndpointOptions = {
  schema: GraphQLSchema
  maxBodyBytes: number
  policy: { user: string }
  /** Returns the id of the caller, because the requests of one person take turns. */
  getUserId: (request: FastifyRequest) => string
  createContext: (request: FastifyRequest) => Record<string, unknown>
  mapDbError: (error: unknown) => AppError | null
}

/** Registers POST /query, the only GraphQL route. */
export function registerGraphql(server: ApiServer, options: EndpointOptions): void {
  const { schema } = options
  const documents = createDocuments(schema)
  const createTurn = createTurns()
  server.decorateRequest('turn')

  /** Returns the operation to run, or the errors that reject it. */
  function check(
    { query, variables, operationName }: Body,
    request: FastifyRequest,
  ): Operation | RejectedRequest {
    const readResult = documents.read(query, operationName)
    if ('errors' in readResult) return readResult
    request.logFields['operation'] = readResult.operation.name?.value ?? null
    const errors = findVariableErrors(schema, readResult.operation, variables)
    if (errors.length > 0) return { errors }
    const problem = findSizeProblem({ schema, ...readResult }, variables)
    return problem === null ? readResult : { errors: [problem] }
  }

  async function runOperation(body: Body, request: FastifyRequest): Promise<Result> {
    request.logFields['operation'] = body.operationName ?? null
    const { turn } = request
    const isCostly = !documents.isKnown(body.query)
    // A request is not executed if its caller disconnected while it waited.
    const isDisconnected = (): boolean => request.raw.socket.destroyed
    const work = () =>
      isDisconnected() ? { errors: [unavailable('the client disconnected')] } : check(body, request)
    const checkResult = await turn.check(isCostly, work, (result) => isRejected(result) && !isDisconnected())
    if (isRejected(checkResult)) return checkResult
    const { document } = checkResult
    const { operationName, variables: variableValues } = body
    const contextValue = { ...options.createContext(request), turn, isDisconnected }
    const execution = execute({ schema, document, operationName, variableValues, contextValue })
    return addExtensions(
      await Promise.race([execution, waitForRejection(contextValue)]),
      contextValue as Partial<Extensions>,
    )
  }

  /** Waits before the body is read, so that a waiting request uses little memory. */
  const waitForTurn: onRequestAsyncHookHandler = async (request, reply) => {
    request.turn = createTurn(options.getUserId(request))
    runWhenClosed(reply, request.turn.leave)
    await request.turn.begin()
  }

  const config = { policy: options.policy, errorShape: 'graphql' as const }
  const route = {
    config,
    bodyLimit: options.maxBodyBytes,
    onRequest: [rejectCrossOrigin, waitForTurn],
    preValidation: rejectBatch,
    schema: querySchema,
  }
  server.post('/query', route, async (request, reply) => {
    const body = readBody(request.body)
    const { data = null, errors, ...rest } = await request.turn.run(() => runOperation(body, request))
    if (errors === undefined) return { data, ...rest }
    const formattedErrors = errors.slice(0, maxErrors).map((error) => formatError(error, reply, options))
    request.hasFailed = true
    request.logFields['error_code'] = formattedErrors[0]?.extensions.code
    return { errors: formattedErrors, data, ...rest }
  })
}

/** Adds the notes about the whole response that resolvers stored in the context. */
function addExtensions(
  { data, errors }: Pick<Result, 'data' | 'errors'>,
  { truncatedLists }: Partial<Extensions>,
): Result {
  const result = errors === undefined ? { data: data ?? null } : { data: data ?? null, errors }
  return truncatedLists === undefined ? result : { ...result, extensions: { truncatedLists } }
}

const isRejected = (checkResult: Operation | RejectedRequest): checkResult is RejectedRequest =>
  'errors' in checkResult

/**
 * Rejects cross-origin requests before the body is read, because a page of another site must not act on behalf of its
 * visitor.
 */
const rejectCrossOrigin: onRequestHookHandler = (request, _reply, done) => {
  if (isSameOriginRequest(request.raw, request.isFromProxy)) done()
  else done(forbidden('cross-origin query rejected; send it from a page of this host'))
}

/** Rejects batches, which would bypass every limit of a single document. */
const rejectBatch: preValidationHookHandler = (request, _reply, done) =>
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

/**
 * Counts values, including nested values, up to the limit. The function is not recursive, because callers
 * control the depth.
 */
function countValues(root: unknown, limit: number): number {
  const pendingValues = [root]
  let count = 0
  while (pendingValues.length > 0 && count <= limit) {
    const value = pendingValues.pop()
    count++
    if (value === null || typeof value !== 'object') continue
    for (const inner of Object.values(value)) {
      if (pendingValues.length > limit) return pendingValues.length
      pendingValues.push(inner)
    }
  }
  return count
}

/** Formats an error for the caller. An error without a path occurred before execution, so it sets the status. */
function formatError(error: Error, reply: FastifyReply, options: EndpointOptions): FormattedError {
  const { path, originalError } = error as { path?: FormattedError['path']; originalError?: unknown }
  const cause = originalError ?? error
  // If an error of graphql-js concerns the document, it refers to nodes; any other GraphQLError is a bug in a
  // resolver.
  const failure =
    cause instanceof GraphQLError && cause.nodes !== undefined
      ? createDocumentError(cause)
      : toAppError(cause, reply.request.id, options.mapDbError)
  if (failure.code === 'internal')
    reply.log.error({ request_id: reply.request.id, err: cause, path }, 'resolver failed')
  if (failure.status >= 500 || path === undefined) void reply.code(failure.status)
  if (failure.retryAfterSeconds !== undefined)
    void reply.header('retry-after', String(failure.retryAfterSeconds))
  const { code, details, fields } = failure
  const extensions = {
    code,
    request_id: reply.request.id,
    ...details,
    ...(fields.length === 0 ? {} : { fields: [...fields] }),
  }
  return { message: failure.message, ...(path === undefined ? {} : { path }), extensions }
}
