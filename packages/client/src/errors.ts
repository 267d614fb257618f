// What can go wrong with a request.

/** The Manager, or the proxy before it, answered with an error. */
export class ResponseError extends Error {
  readonly status: number
  /** How long to wait before asking again, when the answer says so. */
  readonly retryAfterMs: number | null

  constructor(message: string, { status, retryAfterMs }: { status: number; retryAfterMs: number | null }) {
    super(message)
    this.name = 'ResponseError'
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** No answer came: whether the request was carried out is not known. */
export class ConnectionError extends Error {
  constructor(message: string, options: { cause: unknown }) {
    super(message, options)
    this.name = 'ConnectionError'
  }
}

/** GraphQL refused the operation or a part of it; the message is that of the first error. */
export class GraphqlError extends Error {
  readonly errors: readonly GraphqlErrorEntry[]

  constructor(errors: readonly GraphqlErrorEntry[]) {
    super(errors[0]?.message ?? 'the operation failed')
    this.name = 'GraphqlError'
    this.errors = errors
  }
}
export type GraphqlErrorEntry = { readonly message: string; readonly path?: readonly (string | number)[] }
