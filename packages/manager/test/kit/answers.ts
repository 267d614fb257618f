// Every answer of a test app is compared with the API document, so that the document cannot say what is not so.
import { Readable, Transform, pipeline } from 'node:stream'
import Schema from 'typebox/schema'
import type { ApiServer } from '../../src/platform/http/declarations.ts'
import type { GuardedRoute } from '../../src/policy/guard-http.ts'
import type { Json } from '../../tools/openapi-frame.ts'
import { createApiDocument, documentPath } from '../../tools/openapi.ts'

type Answer = {
  method: string
  /** As the document writes it. */
  path: string
  status: number
  headers: Record<string, unknown>
  body: unknown
}
type Response = { headers?: Record<string, Json>; content?: Record<string, { schema: Json }> }
type Check = (body: unknown) => string[]

/** Compares what the server sends from here on; the set fills with what the document does not declare. */
export function compareAnswers(server: ApiServer, routes: () => readonly GuardedRoute[]): Set<string> {
  const found = new Set<string>()
  let compare: ReturnType<typeof createComparison> | undefined
  server.addHook('onSend', (request, reply, body, done) => {
    compare ??= createComparison(createApiDocument(routes()).document)
    const { url, schema = {} } = request.routeOptions
    const path = url === undefined ? noRoute : documentPath(schema, url)
    const {
      statusCode: status,
      request: { method },
    } = reply
    const headers = reply.getHeaders()
    const note = (sent: unknown): void => {
      for (const one of compare?.({ method, path, status, headers, body: sent }) ?? []) found.add(one)
    }
    // Node leaves the body of a HEAD out.
    if (method === 'HEAD') note(null)
    else if (body instanceof Readable) return done(null, noting(body, note))
    else note(body)
    done(null, body)
  })
  return found
}

/** The same stream; what it held is noted at its end, and nothing of one that is cut. */
function noting(body: Readable, note: (text: string) => void): Readable {
  const chunks: Buffer[] = []
  const noted = new Transform({
    transform: (chunk: Buffer, _encoding, next) => {
      chunks.push(chunk)
      next(null, chunk)
    },
    flush: (done) => {
      note(Buffer.concat(chunks).toString())
      done()
    },
  })
  return pipeline(body, noted, () => undefined)
}

const noRoute = '(no route)'

/** A function that answers in what an answer differs from the document; a route that is not in it is not compared. */
export function createComparison(document: Json): (answer: Answer) => string[] {
  const responses = new Map<string, Response & { checks?: Map<string, Check> }>()
  const find = ({ method, path, status }: Answer) => {
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
  return (answer) => {
    const { method, path, status } = answer
    if (path !== noRoute && pathItem(document, path) === undefined) return []
    const response = find(answer)
    const problems = response === undefined ? ['is not declared'] : differences(answer, response)
    return problems.map((problem) => `${method} ${path} ${status}: ${problem}`)
  }
}

function differences(
  { method, headers, body }: Answer,
  response: Response & { checks?: Map<string, Check> },
): string[] {
  const missing = Object.keys(response.headers ?? {}).filter(
    (name) => headers[name.toLowerCase()] === undefined,
  )
  const problems = missing.map((name) => `header ${name} is missing`)
  const isEmpty = body === null || body === undefined || body === ''
  const declared = Object.keys(response.content ?? {})
  if (declared.length === 0) return isEmpty ? problems : [...problems, 'has a body, none is declared']
  if (isEmpty) return method === 'HEAD' ? problems : [...problems, 'has no body']
  // Bytes of any type.
  if (declared.includes('*/*')) return problems
  const type = String(headers['content-type'])
  if (!declared.some((one) => mediaType(one) === mediaType(type)))
    return [...problems, `content type ${type} is not ${declared.join(' or ')}`]
  const text = Buffer.from(body as string | Buffer).toString()
  const value: unknown = mediaType(type) === 'application/json' ? JSON.parse(text) : text
  return [...problems, ...(response.checks?.get(mediaType(type))?.(value) ?? [])]
}

const mediaType = (text: string): string => (text.split(';')[0] as string).trim().toLowerCase()

const pathItem = (document: Json, path: string): Json | undefined => (document['paths'] as Json)[path] as Json

// Addresses that match no route are refused and answered in one shape.
const unmatched: Json = {
  headers: { 'X-Request-Id': {} },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}

/** The response with its references resolved. HEAD is answered like GET, methods OpenAPI has no word for like POST. */
function declaredResponse(
  document: Json,
  method: string,
  path: string,
  status: string,
): Response | undefined {
  const item = path === noRoute ? undefined : pathItem(document, path)
  const operation = (item?.[method] ?? item?.[method === 'head' ? 'get' : 'post']) as Json | undefined
  const declared = path === noRoute ? unmatched : (operation?.['responses'] as Json | undefined)?.[status]
  return declared === undefined ? undefined : (resolve(document, declared) as Response)
}

/** References replaced by what they name; objects take no property that is not declared, unless they say so. */
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
    // Where a body may have several forms, the differences from each are told.
    return errors
      .filter(({ keyword }) => keyword !== 'anyOf' && keyword !== 'additionalProperties')
      .slice(0, 10)
      .map(({ instancePath, keyword, message }) =>
        keyword === 'boolean' ? `body${instancePath} is not declared` : `body${instancePath} ${message}`,
      )
  }
}
