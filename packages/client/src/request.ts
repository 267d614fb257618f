// One request with its retries. Only what may be repeated is: requests that change nothing or the same thing once more, and
// any request that was refused before it was looked at (429). A body that is a stream is sent once.
import { readJson, responseErrorOf } from './answer.ts'
import { type Connection, addressOf, authorizationOf } from './connection.ts'
import { ConnectionError } from './errors.ts'
import { backoffMs, maxDelayMs, retryAfterOf, wait } from './waiting.ts'

export type Request = {
  method: string
  /** Path and query, from the root of the Manager. */
  path: string
  /** Sent as JSON. */
  json?: unknown
  /** Sent as it is; `type` is its content type, absent where the platform finds it. */
  body?: { content: RequestContent; type?: string | undefined } | undefined
  headers?: Readonly<Record<string, string>> | undefined
  signal?: AbortSignal | undefined
  /** Whether a second one does no harm; by default that of GET, HEAD, PUT and DELETE does not. */
  isRepeatable?: boolean
}
export type RequestContent = string | Uint8Array<ArrayBuffer> | ArrayBuffer | Blob | FormData | ReadableStream
/** What every function takes that asks the Manager. */
export type CallOptions = { signal?: AbortSignal | undefined }

const passing = new Set([408, 425, 429, 502, 503, 504])
const repeatable = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

/** The answer, when it is a success; throws a ResponseError or a ConnectionError. */
export const send = (connection: Connection, request: Request): Promise<Response> =>
  exchange(connection, request, async (response) => {
    if (!response.ok) throw await responseErrorOf(response)
    return response
  })

/** The JSON body of the answer, when it is a success. */
export const sendForJson = <Body>(connection: Connection, request: Request): Promise<Body> =>
  exchange(connection, request, async (response) => {
    if (!response.ok) throw await responseErrorOf(response)
    return (await readJson(response)) as Body
  })

/** What `read` makes of the answer, whatever its status. An answer that breaks off while it is read counts as none. */
export async function exchange<Result>(
  connection: Connection,
  request: Request,
  read: (response: Response) => Promise<Result>,
): Promise<Result> {
  const isRepeatable = request.isRepeatable ?? repeatable.has(request.method)
  const maxRetries = request.body?.content instanceof ReadableStream ? 0 : connection.maxRetries
  for (let retries = 0; ; retries++) {
    const isLast = retries >= maxRetries
    const mayRepeat = (status: number): boolean => !isLast && (isRepeatable || status === 429)
    let delayMs = backoffMs(retries)
    try {
      const outcome = await attempt(connection, request, async (response) => {
        if (!passing.has(response.status) || !mayRepeat(response.status))
          return { result: await read(response) }
        delayMs = retryAfterOf(response) ?? delayMs
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

/** One attempt; throws what the caller's signal says, what `read` throws, or a ConnectionError. */
async function attempt<Result>(
  connection: Connection,
  request: Request,
  read: (response: Response) => Promise<Result>,
): Promise<Result> {
  const { method, path, json, body, signal } = request
  signal?.throwIfAborted()
  const address = addressOf(connection, path)
  const headers = await headersOf(connection, request)
  // The time is for headers and for what is read here; a body that the caller reads has the time it needs.
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), connection.timeoutMs)
  let isRead = false
  try {
    const response = await connection.fetch(address, {
      method,
      headers,
      body: json === undefined ? (body?.content ?? null) : JSON.stringify(json),
      // A credential goes to the Manager and nowhere else.
      redirect: 'manual',
      signal: signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]),
      ...(body?.content instanceof ReadableStream ? { duplex: 'half' } : {}),
    })
    isRead = true
    return await read(response)
  } catch (cause) {
    signal?.throwIfAborted()
    if (isRead && !timeout.signal.aborted && isOurs(cause)) throw cause
    const why = timeout.signal.aborted ? `no answer within ${connection.timeoutMs} ms` : 'no connection'
    throw new ConnectionError(`${method} ${connection.url}${path}: ${why}`, { cause })
  } finally {
    clearTimeout(timer)
  }
}

/** Whether it is an error of this package; a platform throws a TypeError when a body breaks off. */
const isOurs = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof TypeError) && error.name !== 'AbortError'

/** Names are lower case here, so that one replaces another. What the platform would refuse it would show as well. */
async function headersOf(connection: Connection, request: Request): Promise<Record<string, string>> {
  const authorization = await authorizationOf(connection)
  const type = request.json === undefined ? request.body?.type : 'application/json'
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries({ ...connection.headers, ...request.headers })) {
    if (!/^[\t -~\u0080-\u00ff]*$/.test(value.trim()))
      throw new TypeError(`the header ${name} has line breaks or other characters that no header has`)
    headers[name.toLowerCase()] = value
  }
  if (authorization !== null) headers['authorization'] = authorization
  if (type !== undefined) headers['content-type'] = type
  return headers
}
