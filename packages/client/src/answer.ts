// Reading answers: never more than a bound, and errors in whichever of their forms they come.
import { ResponseError } from './errors.ts'
import { retryAfterOf } from './waiting.ts'

const maxJsonBytes = 64 * 1024 * 1024
const maxErrorBytes = 256 * 1024
const maxMessageLength = 1_000

/** The JSON of an answer. */
export async function readJson(response: Response): Promise<unknown> {
  const text = await readText(response, maxJsonBytes)
  if (text === null) throw new ResponseError(`the answer is over ${maxJsonBytes} bytes`, response)
  const json = parse(text)
  if (json === undefined)
    throw new ResponseError('the answer is no JSON; check that the url is that of the Manager', response)
  return json
}

/** The error that an answer is. */
export async function responseErrorOf(response: Response): Promise<ResponseError> {
  const body = parse((await readText(response, maxErrorBytes)) ?? '') ?? null
  const { error, message, hint, errors, code, request_id } = (body ?? {}) as {
    error?: unknown
    message?: unknown
    hint?: unknown
    errors?: { message?: unknown }[]
    code?: unknown
    request_id?: unknown
  }
  const found = [error, message, errors?.[0]?.message].find((value) => typeof value === 'string')
  // The texts of some messages are fixed; the rule behind one is beside it.
  const text = found !== undefined && typeof hint === 'string' ? `${found}: ${hint}` : found
  return new ResponseError(text?.slice(0, maxMessageLength) ?? otherwise(response), {
    status: response.status,
    code: typeof code === 'string' ? code : null,
    requestId: typeof request_id === 'string' ? request_id : response.headers.get('x-request-id'),
    retryAfterMs: retryAfterOf(response),
    body,
  })
}

function otherwise({ type, status }: Response): string {
  if (type !== 'opaqueredirect' && (status < 300 || status > 399)) return `status ${status}`
  return 'redirected, which is not followed; check the url, and whether somebody has to sign in'
}

/** The text, as far as it has no more bytes than that; otherwise null. */
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
