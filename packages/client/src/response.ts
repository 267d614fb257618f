// Reads responses. The size of bodies is limited, and all error formats of the Manager are supported.
import { type FieldProblem, ResponseError } from './errors.ts'
import { parseRetryAfter } from './waiting.ts'

const maxJsonBytes = 64 * 1024 * 1024
const maxErrorBytes = 256 * 1024
const maxMessageLength = 1_000

/** Returns the JSON body of a response. Throws a ResponseError if the body is not JSON or exceeds 64 MiB. */
export async function readJson(response: Response): Promise<unknown> {
  const text = await readText(response, maxJsonBytes)
  if (text === null) throw new ResponseError(`the response exceeds ${maxJsonBytes} bytes`, response)
  const json = tryParseJson(text)
  if (json === undefined)
    throw new ResponseError(
      'the response is not JSON; check that url is the address of the Manager or its proxy',
      response,
    )
  return json
}

/** Converts an error response to a ResponseError. */
export async function readResponseError(response: Response): Promise<ResponseError> {
  const body = tryParseJson((await readText(response, maxErrorBytes)) ?? '') ?? null
  const { error, message, hint, errors, code, request_id, details } = (body ?? {}) as {
    error?: unknown
    message?: unknown
    hint?: unknown
    errors?: { message?: unknown }[]
    code?: unknown
    request_id?: unknown
    details?: unknown
  }
  const errorText = [error, message, errors?.[0]?.message].find((value) => typeof value === 'string')
  // Some messages have a fixed text. For them, the response contains a separate hint that explains the violated rule.
  const text = errorText !== undefined && typeof hint === 'string' ? `${errorText}: ${hint}` : errorText
  return new ResponseError(text?.slice(0, maxMessageLength) ?? getFallbackMessage(response), {
    status: response.status,
    code: typeof code === 'string' ? code : null,
    requestId: typeof request_id === 'string' ? request_id : response.headers.get('x-request-id'),
    retryAfterMs: parseRetryAfter(response),
    body,
    fields: Array.isArray(details) ? details.filter(isFieldProblem) : [],
  })
}

/**
 * The response may come from a different server, such as a partner behind the gateway, whose `details` may contain
 * anything.
 */
const isFieldProblem = (value: unknown): value is FieldProblem => {
  const { path, message } = (value ?? {}) as { path?: unknown; message?: unknown }
  return typeof path === 'string' && typeof message === 'string'
}

function getFallbackMessage({ type, status }: Response): string {
  if (type !== 'opaqueredirect' && (status < 300 || status > 399)) return `status ${status}`
  return 'redirects are not followed; check the url and whether the proxy requires a sign-in'
}

/** Returns the text of the body, or null if it exceeds `maxBytes`. */
async function readText(response: Response, maxBytes: number): Promise<string | null> {
  let [text, bytes] = ['', 0]
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  for (;;) {
    const part = await reader?.read()
    if (part === undefined || part.done) return text + decoder.decode()
    const chunk = part.value as Uint8Array
    bytes += chunk.length
    if (bytes > maxBytes) {
      await reader?.cancel()
      return null
    }
    text += decoder.decode(chunk, { stream: true })
  }
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
