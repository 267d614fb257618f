// Sends a file as a form. `fetch` reports no progress, and streams of it require HTTP/2, so this uses XMLHttpRequest.
import { ConnectionError, type FieldProblem, ResponseError } from '@manager/client'
import { OfflineError } from './connection.ts'

type SendFile = {
  path: string
  /** The name of the form field. */
  field: string
  file: File
  /** Called with the number of bytes of the form that the browser has sent, and the total. */
  onProgress: (sentBytes: number, totalBytes: number) => void
  signal: AbortSignal
}

type ErrorBody = {
  readonly error?: unknown
  readonly code?: unknown
  readonly request_id?: unknown
  readonly details?: readonly FieldProblem[]
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

/** A redirect led to the sign-in page of the proxy. Status 0 is what a browser reports for redirects of `fetch`. */
const createSignInError = (): ResponseError => new ResponseError('the session has ended', { status: 0 })

function toError(request: XMLHttpRequest): ResponseError {
  const { status } = request
  const body = (parse(request.responseText) ?? {}) as ErrorBody
  const seconds = Number(request.getResponseHeader('retry-after') ?? Number.NaN)
  return new ResponseError(typeof body.error === 'string' ? body.error : `status ${status}`, {
    status,
    code: typeof body.code === 'string' ? body.code : null,
    requestId:
      typeof body.request_id === 'string' ? body.request_id : request.getResponseHeader('x-request-id'),
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : null,
    fields: Array.isArray(body.details) ? body.details : [],
  })
}

/**
 * Resolves with the JSON of the response. Rejects with a ResponseError, with a ConnectionError if the outcome is
 * unknown, or with the reason of the signal.
 */
export function sendFile({ path, field, file, onProgress, signal }: SendFile): Promise<unknown> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const request = new XMLHttpRequest()
  const wasOnline = navigator.onLine
  const form = new FormData()
  form.append(field, file)
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded, total))
  request.addEventListener('load', () => {
    const body = parse(request.responseText)
    const isRedirected = request.responseURL !== new URL(path, location.href).href
    if (isRedirected) reject(createSignInError())
    else if (request.status < 200 || request.status > 299) reject(toError(request))
    else if (body === null) reject(new ResponseError('the response is not JSON', { status: request.status }))
    else resolve(body)
  })
  request.addEventListener('error', () => {
    const cause = wasOnline
      ? new Error('the connection was closed')
      : new OfflineError('the browser is offline')
    reject(new ConnectionError(`POST ${path}: no connection`, { cause }))
  })
  request.addEventListener('abort', () => reject(signal.reason as Error))
  signal.addEventListener('abort', () => request.abort(), { once: true })
  request.open('POST', path)
  request.send(form)
  return promise
}
