// POST /query: Mercurius executes, this file decides what reaches it and how its answers and failures look.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type DocumentNode, GraphQLError, type GraphQLSchema, Location, getOperationAST } from 'graphql'
import { getVariableValues } from 'graphql/execution/values.js'
import { mercurius } from 'mercurius'
import { AppError, badRequest } from '../errors.ts'
import { toAppError } from '../http/error-bodies.ts'
import { checkDocument } from './document-checks.ts'
import { limitRules, limits } from './limits.ts'

type Body = { query: string; variables?: Record<string, unknown>; operationName?: string }
type Shown = { message: string; path?: readonly (string | number)[]; extensions: object }

const maxShownErrors = 20

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
    cache: 256,
    validationRules: limitRules,
    graphql: { parseOptions: { maxTokens: limits.tokens } },
    errorFormatter: (execution, context) => {
      const { reply } = context
      const errors = (execution.errors ?? [])
        .slice(0, maxShownErrors)
        .map((error) => show(error, reply, options))
      return {
        statusCode: reply.statusCode,
        response: { data: execution.data ?? null, errors: errors as never },
      }
    },
  })
  // Mercurius takes a text that does not parse as GraphQL for a JSON syntax tree, which no limit on tokens sees.
  server.graphql.addHook('preValidation', async (_schema, document: DocumentNode) => {
    if (!(document.loc instanceof Location)) throw badRequest('query is not a GraphQL document')
    checkDocument(document)
  })
  // Compiled execution reports every wrong element of a variable; graphql's own check stops after a few.
  server.graphql.addHook('preExecution', async (schema, document, context, variables) => {
    const operation = getOperationAST(document, (context as { operationName?: string }).operationName)
    const read = getVariableValues(schema, operation?.variableDefinitions ?? [], variables, {
      maxErrors: maxShownErrors,
    })
    if (read.errors !== undefined) throw Object.assign(new Error('wrong variables'), { errors: read.errors })
  })
  const config = { policy: options.policy, errorShape: 'graphql' as const }
  server.post('/query', { config, bodyLimit: options.maxBodyBytes }, async (request, reply) => {
    const { query, variables, operationName } = readBody(request.body)
    request.logFields['operation'] = operationName ?? null
    // The compiled form is cached by text alone; the comment keeps the operations of one document apart.
    const source = operationName === undefined ? query : `${query}\n#${operationName}`
    try {
      const context = { ...options.createContext(request), operationName }
      return await reply.graphql(source, context, variables ?? {}, operationName)
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
  if (countValues(variables, limits.variables) > limits.variables)
    throw badRequest(`variables must hold at most ${limits.variables} values`)
  if (operationName !== undefined && operationName !== null && !isName(operationName))
    throw badRequest('operationName must be a GraphQL name')
  return {
    query,
    variables: (variables ?? undefined) as Body['variables'],
    operationName: (operationName ?? undefined) as Body['operationName'],
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

const isName = (value: unknown): boolean =>
  typeof value === 'string' && /^[_A-Za-z][_0-9A-Za-z]{0,99}$/.test(value)

/** Failures before execution: the parser's and the validation's come as one error with a list. */
function documentErrors(error: unknown): unknown[] {
  const { errors } = error as { errors?: unknown[] }
  const list = Array.isArray(errors) && errors.length > 0 ? errors.slice(0, maxShownErrors) : [error]
  return list.map((one) => (one instanceof GraphQLError ? badRequest(withoutValues(one.message)) : one))
}

/**
 * One failure as the caller reads it. An error without a path was not thrown by a resolver: it is about the document or
 * its variables, and the answer's status says so.
 */
function show(error: unknown, reply: FastifyReply, options: EndpointOptions): Shown {
  const { path, originalError } = error as { path?: Shown['path']; originalError?: unknown }
  const isAboutDocument = error instanceof Error && !(error instanceof AppError) && path === undefined
  const cause =
    isAboutDocument && isGraphqlError(error)
      ? badRequest(withoutValues(error.message))
      : (originalError ?? error)
  const failure = toAppError(cause, reply.request.id, options.readDbError)
  if (failure.code === 'internal')
    reply.log.error({ request_id: reply.request.id, err: cause, path }, 'resolver failed')
  if (failure.status >= 500 || path === undefined) void reply.code(failure.status)
  if (failure.retryAfterSeconds !== undefined)
    void reply.header('retry-after', String(failure.retryAfterSeconds))
  const extensions = { code: failure.code, request_id: reply.request.id }
  return { message: failure.message, ...(path === undefined ? {} : { path }), extensions }
}

/** What graphql says of a wrong variable repeats its value, which may hold a secret beside what is wrong. */
const withoutValues = (message: string): string =>
  message
    .replace(
      / got invalid value [^]*(?=(?: at "[^"]*")?; (?:Field|Expected|[A-Z]\w* cannot|Value|Enum)[^]*$)/,
      ' got an invalid value',
    )
    .replace(/( cannot represent (?:a )?[^:]*value): [^]*$/, '$1')

/** Compiled queries report errors of a class of their own with the same name. */
const isGraphqlError = (error: Error): boolean =>
  error instanceof GraphQLError || error.name === 'GraphQLError'
