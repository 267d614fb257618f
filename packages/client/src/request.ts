// One request with its retries. Only what may be repeated is: requests that change nothing or the same thing once more, and
// any request that was refused before it was looked at (429).
import type { Connection } from './connection.ts'
import { ConnectionError, ResponseError } from './errors.ts'

export type Request = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path and query, from the root of the Manager. */
  path: string
  /** Sent as JSON. */
  json?: unknown
  /** Sent as it is; `type` is its content type. */
  body?: { content: BodyInit; type: string }
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal | undefined
  /** Whether a second one does no harm; by default that of GET, PUT and DELETE does not. */
  isRepeatable?: boolean
}
/** What every function takes that asks the Manager. */
export type CallOptions = { signal?: AbortSignal | undefined }

const firstDelayMs = 250
const maxDelayMs = 30_000
const passing = new Set([408, 425, 429, 502, 503, 504])

/** The answer, when it is a success; throws a ResponseError or a ConnectionError. */
export async function send(connection: Connection, request: Request): Promise<Response> {
  const isRepeatable = request.isRepeatable ?? request.method !== 'POST'
  for (let retries = 0; ; retries++) {
    const outcome = await attempt(connection, request)
    if (outcome instanceof Response) return outcome
    const status = outcome instanceof ResponseError ? outcome.status : null
    const isPassing = status === null || passing.has(status)
    if (!isPassing || !(isRepeatable || status === 429) || retries >= connection.maxRetries) throw outcome
    const asked = outcome instanceof ResponseError ? outcome.retryAfterMs : null
    if (asked !== null && asked > maxDelayMs) throw outcome
    await wait(asked ?? backoffMs(retries), request.signal)
  }
}

/** The JSON body of the answer. */
export async function sendForJson<Body>(connection: Connection, request: Request): Promise<Body> {
  const response = await send(connection, request)
  return (await response.json()) as Body
}

/** Twice as long each time, less up to a half at random: clients do not come back all at once. */
export const backoffMs = (retries: number): number =>
  Math.min(maxDelayMs, firstDelayMs * 2 ** retries) * (1 - Math.random() / 2)

/** Waits, or throws when the signal fires. */
export const wait = (delayMs: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, delayMs)
    signal?.addEventListener('abort', onAbort, { once: true })
  })

/** An answer, or what went wrong; throws only what the caller's signal says. */
async function attempt(
  connection: Connection,
  { method, path, json, body, headers, signal }: Request,
): Promise<Response | ResponseError | ConnectionError> {
  const token = await connection.token()
  const type = json === undefined ? body?.type : 'application/json'
  const sent = {
    ...connection.headers,
    ...headers,
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(type === undefined ? {} : { 'content-type': type }),
  }
  const timeout = AbortSignal.timeout(connection.timeoutMs)
  try {
    const response = await connection.fetch(connection.url + path, {
      method,
      headers: sent,
      body: json === undefined ? (body?.content ?? null) : JSON.stringify(json),
      // A credential goes to the Manager and nowhere else.
      redirect: 'manual',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    if (response.ok) return response
    return new ResponseError(await messageOf(response), {
      status: response.status,
      retryAfterMs: retryAfterOf(response),
    })
  } catch (cause) {
    signal?.throwIfAborted()
    const why = timeout.aborted ? `no answer within ${connection.timeoutMs} ms` : 'no connection'
    return new ConnectionError(`${method} ${path}: ${why}`, { cause })
  }
}

const maxShownLength = 500

/** The text of an error, in whichever of its forms the body has it. */
async function messageOf(response: Response): Promise<string> {
  const text = await response.text()
  const otherwise = `status ${response.status}`
  try {
    const { error, message, errors } = JSON.parse(text) as {
      error?: unknown
      message?: unknown
      errors?: { message?: unknown }[]
    }
    const found = [error, message, errors?.[0]?.message].find((value) => typeof value === 'string')
    return typeof found === 'string' ? found.slice(0, maxShownLength) : otherwise
  } catch {
    return otherwise
  }
}

function retryAfterOf({ headers }: Response): number | null {
  const seconds = headers.get('retry-after')
  return seconds !== null && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1_000 : null
}
