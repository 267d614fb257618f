// POST /query: what reaches execution, and how its responses and failures look. Documents are executed as they are,
// never compiled: no text of a caller becomes code.
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
import { toAppError } from '../http/error-bodies.ts'
import type { graphqlError } from '../http/http.schemas.ts'
import { isFromOwnPage } from '../http/origin.ts'
import { sizeProblem } from './document-size.ts'
import { type Operation, createDocuments } from './documents.ts'
import { querySchema } from './graphql.schemas.ts'
import { limits } from './limits.ts'
import { maxErrors, documentError } from './error-messages.ts'
import { refusedAnswer } from './refused-answers.ts'
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

export type EndpointOptions = {
  schema: GraphQLSchema
  maxBodyBytes: number
  policy: { user: string }
  /** Who is calling: the requests of one person take turns. */
  personOf: (request: FastifyRequest) => string
  createContext: (request: FastifyRequest) => Record<string, unknown>
  readDbError: (error: unknown) => AppError | null
}

/** Registers the one GraphQL route. */
export function registerGraphql(server: ApiServer, options: EndpointOptions): void {
  const { schema } = options
  const documents = createDocuments(schema)
  const turnOf = createTurns()
  server.decorateRequest('turn')

  /** The operation that may run, or why none may. */
  function judge({ query, variables, operationName }: Body, request: FastifyRequest): Operation | Refused {
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
    // A caller that has left while it was not their turn is not worth one.
    const isLeft = (): boolean => request.raw.socket.destroyed
    const work = () => (isLeft() ? { errors: [unavailable('the caller has left')] } : judge(body, request))
    const judged = await turn.judge(isCostly, work, (result) => isRefused(result) && !isLeft())
    if (isRefused(judged)) return judged
    const { document } = judged
    const { operationName, variables: variableValues } = body
    const contextValue = { ...options.createContext(request), turn, isLeft }
    const executed = execute({ schema, document, operationName, variableValues, contextValue })
    return Promise.race([executed, refusedAnswer(contextValue)])
  }

  /** Before the body is read, so that a request that waits takes no memory. Until the response is sent: it takes some too. */
  const takeTurn: onRequestAsyncHookHandler = async (request, reply) => {
    request.turn = turnOf(options.personOf(request))
    reply.raw.once('close', request.turn.end)
    await request.turn.begin()
  }

  const config = { policy: options.policy, errorShape: 'graphql' as const }
  const route = {
    config,
    bodyLimit: options.maxBodyBytes,
    onRequest: [refuseForeign, takeTurn],
    preValidation: refuseBatch,
    schema: querySchema,
  }
  server.post('/query', route, async (request, reply) => {
    const body = readBody(request.body)
    const { data = null, errors } = await run(body, request)
    if (errors === undefined) return { data }
    const shown = errors.slice(0, maxErrors).map((error) => show(error, reply, options))
    request.hasFailed = true
    request.logFields['error_code'] = shown[0]?.extensions.code
    return { errors: shown, data }
  })
}

const isRefused = (judged: Operation | Refused): judged is Refused => 'errors' in judged

/** Before the body is read: a page of another site must not act for the person who looks at it. */
const refuseForeign: onRequestHookHandler = (request, _reply, done) => {
  if (isFromOwnPage(request.raw, request.isFromProxy)) done()
  else done(forbidden('the query was sent by a page of another site; send it from a page of this host'))
}

/** A batch would pass every limit of a single document. */
const refuseBatch: preValidationHookHandler = (request, _reply, done) =>
  done(
    Array.isArray(request.body)
      ? badRequest('send one operation per request: arrays of operations are not accepted')
      : undefined,
  )

function readBody({ query, variables, operationName }: Static<typeof querySchema.body>): Body {
  if (countValues(variables, limits.variables) > limits.variables)
    throw badRequest(`variables must hold at most ${limits.variables} values`)
  return {
    query,
    variables: (variables ?? {}) as Body['variables'],
    operationName: operationName ?? undefined,
  }
}

/** How many values there are, nested ones too; stops counting beyond the limit. No recursion: depth is the caller's. */
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

/** One failure as the caller reads it. One without a path came up before anything ran, which the status shows. */
function show(error: Error, reply: FastifyReply, options: EndpointOptions): Shown {
  const { path, originalError } = error as { path?: Shown['path']; originalError?: unknown }
  const cause = originalError ?? error
  // Errors of graphql itself about the document name nodes of it; any other GraphQLError is a mistake of a resolver.
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
