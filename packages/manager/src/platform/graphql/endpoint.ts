// POST /query: Mercurius executes, this file decides what reaches it and how its answers and failures look.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type DocumentNode, GraphQLError, type GraphQLSchema, Location } from 'graphql'
import { mercurius } from 'mercurius'
import { type AppError, badRequest } from '../errors.ts'
import { toAppError } from '../http/error-bodies.ts'
import { limitRules, limits } from './limits.ts'

type Body = { query: string; variables?: Record<string, unknown>; operationName?: string }
type Shown = { message: string; path?: readonly (string | number)[]; locations?: unknown; extensions: object }

export type EndpointOptions = {
  schema: GraphQLSchema
  maxBodyBytes: number
  /** 0 executes plainly; n compiles a document when it is seen for the nth time after the first. */
  jit: number
  policy: { user: string }
  createContext: (request: FastifyRequest) => Record<string, unknown>
  readDbError: (error: unknown) => AppError | null
}

/** Registers Mercurius and the one GraphQL route. */
export async function registerGraphql(server: FastifyInstance, options: EndpointOptions): Promise<void> {
  await server.register(mercurius, {
    schema: options.schema,
    routes: false,
    jit: options.jit,
    cache: 1_024,
    validationRules: limitRules,
    graphql: { parseOptions: { maxTokens: limits.tokens } },
    errorFormatter: (execution, context) => {
      const { reply } = context
      const errors = (execution.errors ?? []).map((error) => show(error, reply, options))
      return {
        statusCode: reply.statusCode,
        response: { data: execution.data ?? null, errors: errors as never },
      }
    },
  })
  // Mercurius takes a text that does not parse as GraphQL for a JSON syntax tree, which no limit on tokens sees.
  server.graphql.addHook('preValidation', async (_schema, document: DocumentNode) => {
    if (!(document.loc instanceof Location)) throw badRequest('query is not a GraphQL document')
  })
  const config = { policy: options.policy, errorShape: 'graphql' as const }
  server.post('/query', { config, bodyLimit: options.maxBodyBytes }, async (request, reply) => {
    const { query, variables, operationName } = readBody(request.body)
    request.logFields['operation'] = operationName ?? null
    // The compiled form is cached by text alone; the comment keeps the operations of one document apart.
    const source = operationName === undefined ? query : `${query}\n#${operationName}`
    try {
      return await reply.graphql(source, options.createContext(request), variables ?? {}, operationName)
    } catch (error) {
      const shown = documentErrors(error).map((cause) => show(cause, reply, options))
      if (reply.statusCode < 400) void reply.code(400)
      return { errors: shown, data: null }
    }
  })
}

function readBody(body: unknown): Body {
  if (Array.isArray(body))
    throw badRequest('send one operation per request: arrays of operations are not accepted')
  if (body === null || typeof body !== 'object') throw badRequest('send a JSON object with a query')
  const { query, variables, operationName } = body as Record<string, unknown>
  if (typeof query !== 'string') throw badRequest('query must be a text')
  if (query.length > limits.queryLength)
    throw badRequest(`query must have at most ${limits.queryLength} characters`)
  if (
    variables !== undefined &&
    variables !== null &&
    (typeof variables !== 'object' || Array.isArray(variables))
  )
    throw badRequest('variables must be an object')
  if (operationName !== undefined && operationName !== null && !isName(operationName))
    throw badRequest('operationName must be a GraphQL name')
  return {
    query,
    variables: (variables ?? undefined) as Body['variables'],
    operationName: (operationName ?? undefined) as Body['operationName'],
  }
}

const isName = (value: unknown): boolean =>
  typeof value === 'string' && /^[_A-Za-z][_0-9A-Za-z]{0,99}$/.test(value)

/** Parse and validation failures come as one error with a list; anything else stands for itself. */
function documentErrors(error: unknown): unknown[] {
  const { errors } = error as { errors?: unknown[] }
  return Array.isArray(errors) && errors.length > 0 ? errors.slice(0, 20) : [error]
}

/** One failure as the caller reads it. Sets 503 or 500 on the reply when the service, not the caller, is at fault. */
function show(error: unknown, reply: FastifyReply, options: EndpointOptions): Shown {
  const { path, locations } = error as { path?: Shown['path']; locations?: unknown }
  const cause = error instanceof GraphQLError || isWrapped(error) ? error.originalError : error
  const isDocumentError = cause === undefined || cause === null
  const failure = isDocumentError
    ? badRequest((error as Error).message)
    : toAppError(cause, reply.request.id, options.readDbError)
  if (failure.code === 'internal') reply.log.error({ err: cause, path }, 'resolver failed')
  if (failure.status >= 500) {
    void reply.code(failure.status)
    if (failure.retryAfterSeconds !== undefined)
      void reply.header('retry-after', String(failure.retryAfterSeconds))
  }
  const where = isDocumentError && locations !== undefined ? { locations } : {}
  const extensions = { code: failure.code, request_id: reply.request.id }
  return { message: failure.message, ...(path === undefined ? {} : { path }), ...where, extensions }
}

/** Errors of compiled queries carry the same fields without being instances of GraphQLError. */
const isWrapped = (error: unknown): error is { originalError: unknown } =>
  error !== null && typeof error === 'object' && 'originalError' in error
