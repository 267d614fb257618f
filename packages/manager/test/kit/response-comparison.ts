// Compares every response of a test app with the API document, so that the document stays correct.
import { Readable, Transform, pipeline } from 'node:stream'
import Schema from 'typebox/schema'
import type { ApiServer } from '../../src/platform/http/declarations.ts'
import type { GuardedRoute } from '../../src/policy/guard-http.ts'
import type { Json } from '../../tools/openapi-frame.ts'
import { createApiDocument, toDocumentPath } from '../../tools/openapi.ts'

type SentResponse = {
  method: string
  /** Path template of the API document. */
  path: string
  status: number
  headers: Record<string, unknown>
  body: unknown
}
type DeclaredResponse = { headers?: Record<string, Json>; content?: Record<string, { schema: Json }> }
type Check = (body: unknown) => string[]

/**
 * Compares every response that the server sends from now on with the API document. The returned set collects the
 * differences.
 */
export function compareResponses(server: ApiServer, routes: () => readonly GuardedRoute[]): Set<string> {
  const found = new Set<string>()
  let compare: ReturnType<typeof createComparison> | undefined
  server.addHook('onSend', (request, reply, body, done) => {
    compare ??= createComparison(createApiDocument(routes()).document)
    const { url, schema = {} } = request.routeOptions
    const path = url === undefined ? noRoute : toDocumentPath(schema, url)
    const {
      statusCode: status,
      request: { method },
    } = reply
    const headers = reply.getHeaders()
    const report = (sent: unknown): void => {
      for (const one of compare?.({ method, path, status, headers, body: sent }) ?? []) found.add(one)
    }
    // Node sends no body in response to HEAD.
    if (method === 'HEAD') report(null)
    else if (body instanceof Readable) return done(null, tapBody(body, report))
    else report(body)
    done(null, body)
  })
  return found
}

/** Forwards the stream and reports its content when it ends. An aborted stream is not reported. */
function tapBody(body: Readable, report: (text: string) => void): Readable {
  const chunks: Buffer[] = []
  const tap = new Transform({
    transform: (chunk: Buffer, _encoding, next) => {
      chunks.push(chunk)
      next(null, chunk)
    },
    flush: (done) => {
      report(Buffer.concat(chunks).toString())
      done()
    },
  })
  return pipeline(body, tap, () => undefined)
}

const noRoute = '(no route)'

/**
 * Returns a function that lists how a response differs from the document. Routes that are not in the document are not
 * compared.
 */
export function createComparison(document: Json): (sent: SentResponse) => string[] {
  const responses = new Map<string, DeclaredResponse & { checks?: Map<string, Check> }>()
  const find = ({ method, path, status }: SentResponse) => {
    const key = `${method} ${path} ${status}`
    let response = responses.get(key)
    if (response === undefined) {
      response = declaredResponse(document, method.toLowerCase(), path, String(status))
      if (response === undefined) return undefined
      const checks = Object.entries(response.content ?? {}).map(([type, { schema }]): [string, Check] => [
        mediaType(type),
        createCheck(schema),
      ])
      response = { ...response, checks: new Map(checks) }
      responses.set(key, response)
    }
    return response
  }
  return (sent) => {
    const { method, path, status } = sent
    if (path !== noRoute && pathItem(document, path) === undefined) return []
    const response = find(sent)
    const problems = response === undefined ? ['is not declared'] : differences(sent, response)
    return problems.map((problem) => `${method} ${path} ${status}: ${problem}`)
  }
}

function differences(
  { method, headers, body }: SentResponse,
  response: DeclaredResponse & { checks?: Map<string, Check> },
): string[] {
  const missing = Object.keys(response.headers ?? {}).filter(
    (name) => headers[name.toLowerCase()] === undefined,
  )
  const problems = missing.map((name) => `header ${name} is missing`)
  const isEmpty = body === null || body === undefined || body === ''
  const declared = Object.keys(response.content ?? {})
  if (declared.length === 0) return isEmpty ? problems : [...problems, 'has a body but none is declared']
  if (isEmpty) return method === 'HEAD' ? problems : [...problems, 'has no body']
  // The document allows a body of any type.
  if (declared.includes('*/*')) return problems
  const type = String(headers['content-type'])
  if (!declared.some((one) => mediaType(one) === mediaType(type)))
    return [...problems, `content type ${type} is not ${declared.join(' or ')}`]
  const text = Buffer.from(body as string | Buffer).toString()
  const value: unknown = /[/+]json$/.test(mediaType(type)) ? JSON.parse(text) : text
  return [...problems, ...(response.checks?.get(mediaType(type))?.(value) ?? [])]
}

const mediaType = (text: string): string => (text.split(';')[0] as string).trim().toLowerCase()

const pathItem = (document: Json, path: string): Json | undefined => (document['paths'] as Json)[path] as Json

// Requests that match no route get an error of this shape.
const unmatched: Json = {
  headers: { 'X-Request-Id': {} },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}

/**
 * Returns the declared response with resolved references. HEAD uses the GET response; methods that OpenAPI does not
 * support use the POST response.
 */
function declaredResponse(
  document: Json,
  method: string,
  path: string,
  status: string,
): DeclaredResponse | undefined {
  const item = path === noRoute ? undefined : pathItem(document, path)
  const operation = (item?.[method] ?? item?.[method === 'head' ? 'get' : 'post']) as Json | undefined
  const declared = path === noRoute ? unmatched : (operation?.['responses'] as Json | undefined)?.[status]
  return declared === undefined ? undefined : (resolve(document, declared) as DeclaredResponse)
}

/**
 * Replaces references with their targets. Objects reject undeclared properties unless they declare
 * `additionalProperties`.
 */
function resolve(document: Json, node: unknown): unknown {
  if (Array.isArray(node)) return node.map((one) => resolve(document, one))
  if (node === null || typeof node !== 'object') return node
  const { $ref, ...rest } = node as { $ref?: string }
  if ($ref !== undefined) return resolve(document, pointer(document, $ref))
  const plain = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, resolve(document, value)]),
  )
  const isClosed = plain['type'] === 'object' && !('additionalProperties' in plain)
  return isClosed ? { ...plain, additionalProperties: false } : plain
}

const pointer = (document: Json, reference: string): unknown =>
  reference
    .slice(2)
    .split('/')
    .reduce<unknown>((node, part) => (node as Json | undefined)?.[part], document)

function createCheck(schema: Json): Check {
  const validator = Schema.Compile(schema)
  return (body) => {
    if (validator.Check(body)) return []
    const [, errors] = validator.Errors(body)
    // If a body can have several shapes, the differences from each shape are listed.
    return errors
      .filter(({ keyword }) => keyword !== 'anyOf' && keyword !== 'additionalProperties')
      .slice(0, 10)
      .map(({ instancePath, keyword, message }) =>
        keyword === 'boolean' ? `body${instancePath} is not declared` : `body${instancePath} ${message}`,
      )
  }
}
