// The errors that requests throw.

/** A value in the request that breaks a rule, such as `input.name`; dots separate names and list positions. */
export type FieldProblem = { readonly path: string; readonly message: string }

export type ResponseErrorOptions = {
  status: number
  fields?: readonly FieldProblem[]
  code?: string | null
  requestId?: string | null
  retryAfterMs?: number | null
  body?: unknown
}
/**
 * The Manager or its proxy returned an error. The error message consists of the response's message and hint.
 */
export class ResponseError extends Error {
  /** The HTTP status, or 0 for a redirect whose status a browser hides. */
  readonly status: number
  /** The machine-readable error code, such as `not_found`, or null if the response has none. */
  readonly code: string | null
  /** The id of the request in the log of the Manager. */
  readonly requestId: string | null
  /** The delay from Retry-After, or null if the response has none. */
  readonly retryAfterMs: number | null
  /** The JSON body of the response, or null if it is not JSON. */
  readonly body: unknown
  /** All values that break a rule; the message is about the first one. Empty for other errors. */
  readonly fields: readonly FieldProblem[]

  constructor(message: string, options: ResponseErrorOptions) {
    const { status, code, requestId, retryAfterMs, body, fields } = options
    super(message)
    this.name = 'ResponseError'
    this.status = status
    this.code = code ?? null
    this.requestId = requestId ?? null
    this.retryAfterMs = retryAfterMs ?? null
    this.body = body ?? null
    this.fields = fields ?? []
  }
}

/** The response is missing or incomplete, so it is unknown whether the request was executed. */
export class ConnectionError extends Error {
  constructor(message: string, options: { cause: unknown }) {
    super(message, options)
    this.name = 'ConnectionError'
  }
}

export type GraphqlErrorEntry = {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly extensions?: {
    readonly code?: string
    readonly request_id?: string
    readonly fields?: readonly FieldProblem[]
    /** With the code `CONFLICT`: the revision of the object. */
    readonly currentRevision?: number
    /** With the code `CONFLICT`, for callers who may read the audit trail: who made the last audited change. */
    readonly changedBy?: string
  }
}
/**
 * The Manager rejected a GraphQL operation or a part of it. The error message is that of the first GraphQL
 * error.
 */
export class GraphqlError extends Error {
  readonly errors: readonly GraphqlErrorEntry[]
  /** The code of the first error, such as `not_found`. */
  readonly code: string | null
  /** The values that break a rule, from all errors. */
  readonly fields: readonly FieldProblem[]
  /** The delay from Retry-After, or null if the response has none. */
  readonly retryAfterMs: number | null

  constructor(
    errors: readonly GraphqlErrorEntry[],
    { retryAfterMs = null }: { retryAfterMs?: number | null } = {},
  ) {
    super(errors[0]?.message ?? 'the operation failed')
    this.name = 'GraphqlError'
    this.errors = errors
    this.code = errors[0]?.extensions?.code ?? null
    this.fields = errors.flatMap(({ extensions }) => extensions?.fields ?? [])
    this.retryAfterMs = retryAfterMs
  }
}

/** A request to the callback URL failed verification. Respond with `status`. */
export class CallbackError extends Error {
  /** 401 for a forged, modified or old callback, 413 for a body that is too large, 503 if the Manager must retry. */
  readonly status: 401 | 413 | 503

  constructor(message: string, { status }: { status: 401 | 413 | 503 }) {
    super(message)
    this.name = 'CallbackError'
    this.status = status
  }
}
