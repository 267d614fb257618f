// Prints docs/api/openapi.json, an OpenAPI 3.1 document that is built from the route declarations.
import type { FastifySchema } from 'fastify'
import { envelopeRefusal, errorSchema, errorSchemas } from '../src/platform/http/http.schemas.ts'
import { healthPortSchemas } from '../src/platform/http/health.schemas.ts'
import type { GuardedRoute } from '../src/policy/guard-http.ts'
import { type Json, frame, headerParts, healthServers, reasons } from './openapi-frame.ts'

type Route = Pick<GuardedRoute, 'method' | 'path' | 'schema'> & Partial<GuardedRoute>
type Components = { schemas: Record<string, Json>; responses: Record<string, Json> }

const documentMethods = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'])
const withoutBody = new Set(['get', 'head', 'options', 'trace'])

/** Returns the document, and the routes that it omits because they lack a declaration. */
export function createApiDocument(routes: readonly GuardedRoute[]): { document: Json; undeclared: string[] } {
  const components: Components = { schemas: {}, responses: {} }
  const paths: Record<string, Json> = {}
  const undeclared: string[] = []
  const all: Route[] = [...routes, ...healthPort()]
  for (const route of all) {
    const { method, path, schema, policy } = route
    if (schema.operationId === undefined || schema.summary === undefined || schema.response === undefined)
      undeclared.push(`${method} ${path}`)
    else if (isDocumented(route)) {
      const isOneOfMany = method === 'HEAD' || all.some((other) => isTwin(route, other))
      const written = documentPath(schema, path)
      const servers: Json = policy === undefined ? { servers: healthServers } : {}
      const added = { [method.toLowerCase()]: operation(route, isOneOfMany, components) }
      paths[written] = { ...servers, ...paths[written], ...added }
    }
  }
  const { components: fixed, ...rest } = frame()
  return { document: { ...rest, paths, components: { ...fixed, ...components } }, undeclared }
}

/** Returns the path of a route in OpenAPI notation. */
export const documentPath = (schema: FastifySchema, path: string): string =>
  schema.path ?? path.replaceAll(/:(\w+)/g, '{$1}')

const healthPort = (): Route[] =>
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

function operation(route: Route, isOneOfMany: boolean, components: Components): Json {
  const { schema } = route
  const method = route.method.toLowerCase()
  const suffix = isOneOfMany ? `${method[0]?.toUpperCase()}${method.slice(1)}` : ''
  const parameters = [
    ...parametersOf(schema.params, 'path'),
    ...parametersOf(schema.querystring, 'query'),
    ...parametersOf(schema.headers, 'header'),
  ]
  if (schema.responseHeaders?.[304] !== undefined) parameters.push(headerParts.ifNoneMatch)
  const responses = [...responsesOf(route)].toSorted(([a], [b]) => a.localeCompare(b))
  return {
    operationId: `${schema.operationId}${suffix}`,
    summary: schema.summary as string,
    ...(schema.description === undefined ? {} : { description: schema.description }),
    tags: (schema.tags ?? []) as unknown as Json[],
    ...(schema.deprecated === undefined ? {} : { deprecated: true }),
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBody(route, method, components),
    responses: Object.fromEntries(
      responses.map(([status, causes]) => [status, response(route, status, [...causes], components)]),
    ),
  }
}

/** Returns whether the body may be null, which makes it optional. */
const allowsNone = (body: unknown): boolean =>
  ((body as { anyOf?: { type?: string }[] }).anyOf ?? []).some(({ type }) => type === 'null')

function requestBody({ schema }: Route, method: string, components: Components): Json {
  if (schema.body !== undefined) {
    const type = schema.consumes ?? 'application/json'
    const content = { [type]: { schema: toJson(schema.body as object, components) } }
    return { requestBody: { required: !allowsNone(schema.body), content } }
  }
  if (schema.form !== undefined) {
    const content = { 'multipart/form-data': { schema: toJson(schema.form, components) } }
    return { requestBody: { required: true, content } }
  }
  // A route that forwards a response also forwards a request body.
  const isPassedOn = 'default' in (schema.response as object)
  return isPassedOn && !withoutBody.has(method) ? { requestBody: { content: { '*/*': { schema: {} } } } } : {}
}

/**
 * Returns the declared responses, and the responses that follow from the policy and the body. A status can have several
 * causes.
 */
function responsesOf({ schema, policy, errorShape = 'error' }: Route): Map<string, Set<object>> {
  const declared = Object.entries(schema.response as Record<string, object>)
  const responses = new Map(declared.map(([status, one]) => [status, new Set([one])]))
  const add = (status: string, body: object): void => {
    responses.set(status, (responses.get(status) ?? new Set()).add(body))
  }
  const refusal = errorShape === 'envelope' ? envelopeRefusal : errorSchema
  if (policy !== undefined && !('open' in policy)) add('401', refusal)
  if (policy !== undefined && 'machine' in policy) add('429', refusal)
  const further = [
    ...(policy !== undefined && 'can' in policy ? ['403', '404'] : []),
    ...(schema.body === undefined ? [] : ['413', '415']),
  ]
  for (const status of further) add(status, errorSchemas[errorShape])
  // A client that prefers HTML also receives errors as HTML.
  if (schema.alternatives?.['text/html'] !== undefined)
    for (const status of responses.keys()) if (Number(status) >= 400) add(status, errorSchemas.page)
  return responses
}

function response(route: Route, status: string, causes: object[], components: Components): Json {
  const { schema, method, policy } = route
  const { description = reasons[status] ?? 'The request succeeded.' } = causes[0] as { description?: string }
  const named = [
    ...(policy === undefined || status === 'default' ? [] : ['X-Request-Id']),
    ...(status === '429' || status === '503' ? ['Retry-After'] : []),
    ...(schema.responseHeaders?.[Number(status)] ?? []),
  ]
  const headers = Object.fromEntries(named.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
  const isEmpty = causes.length === 1 && (causes[0] as { type?: string }).type === 'null'
  const hasBody = method !== 'HEAD' && !isEmpty
  const whole = {
    description,
    ...(named.length === 0 ? {} : { headers }),
    ...(hasBody ? { content: contentOf(schema, status, causes, components) } : {}),
  }
  // Errors that many routes share become one component.
  const ids = causes.map((cause) => (cause as { $id?: string }).$id)
  if (Number(status) < 400 || policy === undefined || ids.includes(undefined) || !hasBody) return whole
  const name = `${ids.join('Or')}${status}`
  components.responses[name] = whole
  return { $ref: `#/components/responses/${name}` }
}

/** Returns the bodies of a response by media type. */
function contentOf(schema: FastifySchema, status: string, causes: object[], components: Components): Json {
  const success = status === 'default' ? '*/*' : (schema.produces ?? 'application/json')
  const typesOf = (cause: object): string[] => {
    if (cause === errorSchemas.page) return ['text/html']
    return Number(status) >= 400 ? ['application/json'] : [success].flat()
  }
  const content: Json = {}
  for (const [type, bodies] of Map.groupBy(
    causes.flatMap((cause) => typesOf(cause).map((type) => ({ type, body: toJson(cause, components) }))),
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
function securityOf({ policy, schema }: Route): Json[] {
  if (policy === undefined || 'open' in policy)
    return schema.optionalCredential === undefined ? [] : [{ [schema.optionalCredential]: [] }, {}]
  if ('proxy' in policy) return [{ proxySecret: [] }]
  if ('tenantUser' in policy) return [{ proxySecret: [], forwardedUser: [], forwardedTenant: [] }]
  if ('machine' in policy) return [{ machineToken: [] }]
  return [
    { proxySecret: [], subject: [], email: [], name: [] },
    { proxySecret: [], subject: [] },
    { proxySecret: [], personalAccessToken: [] },
  ]
}

function parametersOf(schema: unknown, location: 'header' | 'path' | 'query'): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as { properties?: Json; required?: string[] }
  return Object.entries(properties).map(([name, property]) => {
    const { description = '', ...form } = described(property as Json)
    return { name, in: location, required: required.includes(name), description, schema: form }
  })
}

/**
 * Moves the title of a schema into its description. The service uses titles to describe valid values, but in OpenAPI a
 * title is a name.
 */
function described({ title, ...schema }: Json): Json {
  if (typeof title !== 'string') return title === undefined ? schema : { title, ...schema }
  if (schema['format'] === 'uuid') return schema
  const { description = '' } = schema as { description?: string }
  return { ...schema, description: `${description} Must be ${title}.`.trimStart() }
}

/** Returns the schema as JSON. A schema with an $id becomes a component. */
function toJson(schema: object, components: Components): Json {
  const { $id, ...rest } = described(schema as Json) as { $id?: string }
  const entries = Object.entries(rest).map(([key, value]) => [key, convert(value, components)])
  const plain = Object.fromEntries(entries) as Json
  if ($id === undefined) return plain
  components.schemas[$id] = { title: $id, ...plain }
  return { $ref: `#/components/schemas/${$id}` }
}

function convert(value: unknown, components: Components): Json[string] {
  if (Array.isArray(value)) return value.map((one) => convert(one, components)) as Json[]
  if (value !== null && typeof value === 'object') return toJson(value, components)
  return value as string
}
