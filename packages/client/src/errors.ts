// What can go wrong with a request.

export type ResponseErrorOptions = {
  status: number
  code?: string | null
  requestId?: string | null
  retryAfterMs?: number | null
  body?: unknown
}
/** The Manager, or the proxy before it, answered with an error; the message is that of the response, with its hint. */
export class ResponseError extends Error {
  /** 0 for a redirect that a browser does not show. */
  readonly status: number
  /** The word for programs that accompanies the message, such as `not_found`; null when the answer has none. */
  readonly code: string | null
  /** The request as the log of the Manager names it. */
  readonly requestId: string | null
  /** How long to wait before asking again, when the answer says so. */
  readonly retryAfterMs: number | null
  /** The JSON of the answer; null when it is none. */
  readonly body: unknown

  constructor(message: string, { status, code, requestId, retryAfterMs, body }: ResponseErrorOptions) {
    super(message)
    this.name = 'ResponseError'
    this.status = status
    this.code = code ?? null
    this.requestId = requestId ?? null
    this.retryAfterMs = retryAfterMs ?? null
    this.body = body ?? null
  }
}

/** No answer came, or not all of it: whether the request was carried out is not known. */
export class ConnectionError extends Error {
  constructor(message: string, options: { cause: unknown }) {
    super(message, options)
    this.name = 'ConnectionError'
  }
}

export type GraphqlErrorEntry = {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly extensions?: { readonly code?: string; readonly request_id?: string }
}
/** GraphQL refused the operation or a part of it; the message is that of the first error. */
export class GraphqlError extends Error {
  readonly errors: readonly GraphqlErrorEntry[]
  /** The word for programs of the first error, such as `not_found`. */
  readonly code: string | null

  constructor(errors: readonly GraphqlErrorEntry[]) {
    super(errors[0]?.message ?? 'the operation failed')
    this.name = 'GraphqlError'
    this.errors = errors
    this.code = errors[0]?.extensions?.code ?? null
  }
}

/** A call of the callback URL is not to be believed; answer it with `status`. */
export class CallbackError extends Error {
  /** 401 for a forged, changed or old call, 503 for one that the Manager shall make again. */
  readonly status: 401 | 413 | 503

  constructor(message: string, { status }: { status: 401 | 413 | 503 }) {
    super(message)
    this.name = 'CallbackError'
    this.status = status
  }
}
