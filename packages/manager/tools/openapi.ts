// Prints docs/api/openapi.json, an OpenAPI 3.1 document that is built from the route declarations.
import type { FastifySchema } from 'fastify'
import { envelopeRefusal, errorSchema, errorSchemas } from '../src/platform/http/http.schemas.ts'
import { healthPortSchemas } from '../src/platform/http/health.schemas.ts'
import type { GuardedRoute } from '../src/policy/guard-http.ts'
import { type Json, createFrame, headerParts, healthServers, statusMeanings } from './openapi-frame.ts'

type Route = Pick<GuardedRoute, 'method' | 'path' | 'schema'> & Partial<GuardedRoute>
type Components = { schemas: Record<string, Json>; responses: Record<string, Json> }

const documentMethods = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'])
const bodylessMethods = new Set(['get', 'head', 'options', 'trace'])

/** Returns the document, and the routes that it omits because they lack a declaration. */
export function createApiDocument(routes: readonly GuardedRoute[]): {
  document: Json
  undeclaredRoutes: string[]
} {
  const components: Components = { schemas: {}, responses: {} }
  const paths: Record<string, Json> = {}
  const undeclaredRoutes: string[] = []
  const allRoutes: Route[] = [...routes, ...listHealthRoutes()]
  for (const route of allRoutes) {
    const { method, path, schema, policy } = route
    if (schema.operationId === undefined || schema.summary === undefined || schema.response === undefined)
      undeclaredRoutes.push(`${method} ${path}`)
    else if (isDocumented(route)) {
      const hasTwin = method === 'HEAD' || allRoutes.some((other) => isTwin(route, other))
      const openapiPath = toDocumentPath(schema, path)
      const servers: Json = policy === undefined ? { servers: healthServers } : {}
      const pathItem = { [method.toLowerCase()]: createOperation(route, hasTwin, components) }
      paths[openapiPath] = { ...servers, ...paths[openapiPath], ...pathItem }
    }
  }
  const { components: fixedComponents, ...rest } = createFrame()
  return { document: { ...rest, paths, components: { ...fixedComponents, ...components } }, undeclaredRoutes }
}

/** Returns the path of a route in OpenAPI notation. */
export const toDocumentPath = (schema: FastifySchema, path: string): string =>
  schema.path ?? path.replaceAll(/:(\w+)/g, '{$1}')

const listHealthRoutes = (): Route[] =>
  Object.entries(healthPortSchemas).flatMap(([path, schema]) =>
    ['GET', 'HEAD'].map((method) => ({ method, path, schema })),
  )

/**
 * Returns whether the document contains the route. OpenAPI supports only eight methods. Derived HEAD routes are
 * omitted, because GET implies them.
 */
const isDocumented = ({ method, isDerived }: Route): boolean =>
  isDerived !== true && documentMethods.has(method.toLowerCase())

/** Returns true if both routes come from the same registration and `other` has a different method, except HEAD. */
const isTwin = (route: Route, other: Route): boolean =>
  other !== route && other.schema === route.schema && other.method !== 'HEAD' && isDocumented(other)

function createOperation(route: Route, hasTwin: boolean, components: Components): Json {
  const { schema } = route
  const method = route.method.toLowerCase()
  const suffix = hasTwin ? `${method[0]?.toUpperCase()}${method.slice(1)}` : ''
  const parameters = [
    ...createParameters(schema.params, 'path'),
    ...createParameters(schema.querystring, 'query'),
    ...createParameters(schema.headers, 'header'),
  ]
  if (schema.responseHeaders?.[304] !== undefined) parameters.push(headerParts.ifNoneMatch)
  const responses = [...collectResponses(route)].toSorted(([a], [b]) => a.localeCompare(b))
  return {
    operationId: `${schema.operationId}${suffix}`,
    summary: schema.summary as string,
    ...(schema.description === undefined ? {} : { description: schema.description }),
    tags: (schema.tags ?? []) as unknown as Json[],
    ...(schema.deprecated === undefined ? {} : { deprecated: true }),
    security: listCredentials(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...createRequestBody(route, method, components),
    responses: Object.fromEntries(
      responses.map(([status, causes]) => [status, createResponse(route, status, [...causes], components)]),
    ),
  }
}

/** Returns whether the body may be null, which makes it optional. */
const isNullable = (body: unknown): boolean =>
  ((body as { anyOf?: { type?: string }[] }).anyOf ?? []).some(({ type }) => type === 'null')

function createRequestBody({ schema }: Route, method: string, components: Components): Json {
  if (schema.body !== undefined) {
    const types = [schema.consumes ?? 'application/json'].flat()
    const bodySchema = toJson(schema.body as object, components)
    const content = Object.fromEntries(types.map((type) => [type, { schema: bodySchema }]))
    return { requestBody: { required: !isNullable(schema.body), content } }
  }
  if (schema.form !== undefined) {
    const content = { 'multipart/form-data': { schema: toJson(schema.form, components) } }
    return { requestBody: { required: true, content } }
  }
  // If a route forwards every response, it also forwards every request body.
  const isForwarded = 'default' in (schema.response as object)
  return isForwarded && !bodylessMethods.has(method)
    ? { requestBody: { content: { '*/*': { schema: {} } } } }
    : {}
}

/**
 * Returns the declared responses, and the responses that follow from the policy and the body. A status can have several
 * causes.
 */
function collectResponses({ schema, policy, errorShape = 'error' }: Route): Map<string, Set<object>> {
  const declaredResponses = Object.entries(schema.response as Record<string, object>)
  const responses = new Map(declaredResponses.map(([status, one]) => [status, new Set([one])]))
  const addResponse = (status: string, body: object): void => {
    responses.set(status, (responses.get(status) ?? new Set()).add(body))
  }
  const refusal = errorShape === 'envelope' ? envelopeRefusal : errorSchema
  if (policy !== undefined && !('open' in policy)) addResponse('401', refusal)
  if (policy !== undefined && 'machine' in policy) addResponse('429', refusal)
  const additionalStatuses = [
    ...(policy !== undefined && 'can' in policy ? ['403', '404'] : []),
    ...(schema.body === undefined ? [] : ['413', '415']),
  ]
  for (const status of additionalStatuses) addResponse(status, errorSchemas[errorShape])
  // A client that prefers HTML also receives errors as HTML.
  if (schema.alternatives?.['text/html'] !== undefined)
    for (const status of responses.keys()) if (Number(status) >= 400) addResponse(status, errorSchemas.page)
  return responses
}

function createResponse(route: Route, status: string, causes: object[], components: Components): Json {
  const { schema, method, policy } = route
  const { description = statusMeanings[status] ?? 'The request succeeded.' } = causes[0] as {
    description?: string
  }
  const headerNames = [
    ...(policy === undefined || status === 'default' ? [] : ['X-Request-Id']),
    ...(status === '429' || status === '503' ? ['Retry-After'] : []),
    ...(schema.responseHeaders?.[Number(status)] ?? []),
  ]
  const headers = Object.fromEntries(
    headerNames.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )
  const isEmpty = causes.length === 1 && (causes[0] as { type?: string }).type === 'null'
  const hasBody = method !== 'HEAD' && !isEmpty
  const responseObject = {
    description,
    ...(headerNames.length === 0 ? {} : { headers }),
    ...(hasBody ? { content: createContent(schema, status, causes, components) } : {}),
  }
  // An error that many routes share becomes one component, so that the document stays small.
  const ids = causes.map((cause) => (cause as { $id?: string }).$id)
  if (Number(status) < 400 || policy === undefined || ids.includes(undefined) || !hasBody)
    return responseObject
  const name = `${ids.join('Or')}${status}`
  components.responses[name] = responseObject
  return { $ref: `#/components/responses/${name}` }
}

/** Returns the bodies of a response by media type. */
function createContent(
  schema: FastifySchema,
  status: string,
  causes: object[],
  components: Components,
): Json {
  const successTypes = status === 'default' ? '*/*' : (schema.produces ?? 'application/json')
  const getTypes = (cause: object): string[] => {
    if (cause === errorSchemas.page) return ['text/html']
    if (cause === errorSchemas.scim) return ['application/scim+json']
    return Number(status) >= 400 ? ['application/json'] : [successTypes].flat()
  }
  const content: Json = {}
  for (const [type, bodies] of Map.groupBy(
    causes.flatMap((cause) => getTypes(cause).map((type) => ({ type, body: toJson(cause, components) }))),
    ({ type }) => type,
  ))
    content[type] = {
      schema: bodies.length === 1 ? bodies[0]?.body : { anyOf: bodies.map(({ body }) => body) },
    } as Json
  if (Number(status) < 300)
    for (const [type, body] of Object.entries(schema.alternatives ?? {}))
      content[type] = { schema: toJson(body, components) }
  return content
}

/** Returns the alternative credentials. An empty alternative means that no credential is required. */
function listCredentials({ policy, schema }: Route): Json[] {
  if (policy === undefined || 'open' in policy)
    return schema.optionalCredential === undefined ? [] : [{ [schema.optionalCredential]: [] }, {}]
  if ('proxy' in policy) return [{ proxySecret: [] }]
  if ('scim' in policy) return [{ proxySecret: [], scimToken: [] }]
  if ('tenantUser' in policy) return [{ proxySecret: [], forwardedUser: [], forwardedTenant: [] }]
  if ('machine' in policy) return [{ machineToken: [] }]
  return [
    { proxySecret: [], subject: [], email: [], name: [] },
    { proxySecret: [], subject: [] },
    { proxySecret: [], personalAccessToken: [] },
  ]
}

function createParameters(schema: unknown, location: 'header' | 'path' | 'query'): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as { properties?: Json; required?: string[] }
  return Object.entries(properties).map(([name, property]) => {
    const { description = '', ...form } = moveTitle(property as Json)
    const isRequired = location === 'path' || required.includes(name)
    return { name, in: location, required: isRequired, description, schema: form }
  })
}

/**
 * Moves the title of a schema into its description. The service uses titles to describe valid values, but in OpenAPI a
 * title is a name.
 */
function moveTitle({ title, ...schema }: Json): Json {
  if (typeof title !== 'string') return title === undefined ? schema : { title, ...schema }
  if (schema['format'] === 'uuid') return schema
  const { description = '' } = schema as { description?: string }
  return { ...schema, description: `${description} Must be ${title}.`.trimStart() }
}

/** Returns the schema as JSON. A schema with an $id becomes a component. */
function toJson(schema: object, components: Components): Json {
  const { $id, ...rest } = moveTitle(schema as Json) as { $id?: string }
  const entries = Object.entries(rest).map(([key, value]) => [key, convert(value, components)])
  const convertedSchema = Object.fromEntries(entries) as Json
  if ($id === undefined) return convertedSchema
  components.schemas[$id] = { title: $id, ...convertedSchema }
  return { $ref: `#/components/schemas/${$id}` }
}

function convert(value: unknown, components: Components): Json[string] {
  if (Array.isArray(value)) return value.map((one) => convert(one, components)) as Json[]
  if (value !== null && typeof value === 'object') return toJson(value, components)
  return value as string
}
