// Sends requests with retries. Only these requests are retried: requests without side effects, idempotent
// requests, and requests that were rejected unprocessed (429). A streamed body is sent only once.
import { readJson, readResponseError } from './response.ts'
import { type Connection, getAddress, getAuthorization } from './connection.ts'
import { ConnectionError } from './errors.ts'
import { getBackoffMs, maxDelayMs, parseRetryAfter, wait } from './waiting.ts'

export type Request = {
  method: string
  /** The path and query, relative to the root of the Manager. */
  path: string
  /** A body that is sent as JSON. */
  json?: unknown
  /**
   * A body that is sent unchanged. `type` is the content type; omit it if the platform derives it from the
   * content.
   */
  body?: { content: RequestContent; type?: string | undefined } | undefined
  headers?: Readonly<Record<string, string>> | undefined
  signal?: AbortSignal | undefined
  /** Whether the request is safe to repeat. The default is true for GET, HEAD, PUT and DELETE. */
  isRepeatable?: boolean
}
export type RequestContent = string | Uint8Array<ArrayBuffer> | ArrayBuffer | Blob | FormData | ReadableStream
/** Options of every function that sends requests. */
export type CallOptions = { signal?: AbortSignal | undefined }

const transientStatuses = new Set([408, 425, 429, 502, 503, 504])
const repeatableMethods = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

/** Sends a request and returns a successful response. Throws a ResponseError or a ConnectionError. */
export const send = (connection: Connection, request: Request): Promise<Response> =>
  exchange(connection, request, async (response) => {
    if (!response.ok) throw await readResponseError(response)
    return response
  })

/** Sends a request and returns the JSON body of a successful response. Throws like `send`. */
export const sendForJson = <Body>(connection: Connection, request: Request): Promise<Body> =>
  exchange(connection, request, async (response) => {
    if (!response.ok) throw await readResponseError(response)
    return (await readJson(response)) as Body
  })

/**
 * Sends a request and returns the result of `read` for a response with any status. A truncated response is treated as
 * missing.
 */
export async function exchange<Result>(
  connection: Connection,
  request: Request,
  read: (response: Response) => Promise<Result>,
): Promise<Result> {
  const isRepeatable = request.isRepeatable ?? repeatableMethods.has(request.method)
  const maxRetries = request.body?.content instanceof ReadableStream ? 0 : connection.maxRetries
  for (let retries = 0; ; retries++) {
    const isLast = retries >= maxRetries
    const canRepeat = (status: number): boolean => !isLast && (isRepeatable || status === 429)
    let delayMs = getBackoffMs(retries)
    try {
      const outcome = await attempt(connection, request, async (response) => {
        if (!transientStatuses.has(response.status) || !canRepeat(response.status))
          return { result: await read(response) }
        delayMs = parseRetryAfter(response) ?? delayMs
        if (delayMs > maxDelayMs) return { result: await read(response) }
        await response.body?.cancel()
        return null
      })
      if (outcome !== null) return outcome.result
    } catch (error) {
      if (!(error instanceof ConnectionError) || isLast || !isRepeatable) throw error
    }
    await wait(delayMs, request.signal)
  }
}

/** Makes one attempt. Throws the abort reason of the caller, an error of `read`, or a ConnectionError. */
async function attempt<Result>(
  connection: Connection,
  request: Request,
  read: (response: Response) => Promise<Result>,
): Promise<Result> {
  const { method, path, json, body, signal } = request
  signal?.throwIfAborted()
  const address = getAddress(connection, path)
  const headers = await createHeaders(connection, request)
  // The timeout covers the headers, and bodies that this package reads. A body that the caller reads has no timeout.
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), connection.timeoutMs)
  let hasResponse = false
  try {
    const response = await connection.fetch(address, {
      method,
      headers,
      body: json === undefined ? (body?.content ?? null) : JSON.stringify(json),
      // Following a redirect could send the credential to a different host.
      redirect: 'manual',
      signal: signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]),
      ...(body?.content instanceof ReadableStream ? { duplex: 'half' } : {}),
    })
    hasResponse = true
    return await read(response)
  } catch (cause) {
    signal?.throwIfAborted()
    if (hasResponse && !timeout.signal.aborted && isOwnError(cause)) throw cause
    const reason = timeout.signal.aborted ? `no response within ${connection.timeoutMs} ms` : 'no connection'
    throw new ConnectionError(`${method} ${connection.url}${path}: ${reason}`, { cause })
  } finally {
    clearTimeout(timer)
  }
}

/** Returns whether this package threw the error. The platform throws a TypeError when a body is truncated. */
const isOwnError = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof TypeError) && error.name !== 'AbortError'

/**
 * Returns the headers with lowercase names, so that later headers replace earlier ones. Checks the values, because
 * errors of the platform would reveal an invalid value.
 */
async function createHeaders(connection: Connection, request: Request): Promise<Record<string, string>> {
  const authorization = await getAuthorization(connection)
  const type = request.json === undefined ? request.body?.type : 'application/json'
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries({ ...connection.headers, ...request.headers })) {
    if (!/^[\t -~\u0080-\u00ff]*$/.test(value.trim()))
      throw new TypeError(`the header ${name} contains line breaks or other characters that are not allowed`)
    headers[name.toLowerCase()] = value
  }
  if (authorization !== null) headers['authorization'] = authorization
  if (type !== undefined) headers['content-type'] = type
  return headers
}
