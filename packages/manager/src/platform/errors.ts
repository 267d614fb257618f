// The error class for failures that callers see. Its codes are a closed list; each route group renders the
// error in the body format that the interface prescribes (see platform/http/error-bodies.ts and
// platform/graphql/endpoint.ts).

const statusByCode = {
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  // The change is based on an outdated revision of the object.
  CONFLICT: 409,
  gone: 410,
  // The request names a version of the object that is not the current one.
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  key_reused: 422,
  rate_limited: 429,
  internal: 500,
  template_failed: 500,
  bad_gateway: 502,
  unavailable: 503,
} as const

/** Closed list of error codes; each has one HTTP status. */
export type ErrorCode = keyof typeof statusByCode
export const errorCodes = Object.keys(statusByCode) as ErrorCode[]

// Messages quote caller input, which can be megabytes long.
const maxMessageLength = 500
const truncate = (message: string): string =>
  message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength).toWellFormed()}…`

/** A value that breaks a rule. The path leads from the input to the value; dots separate its names and positions. */
export type FieldProblem = { readonly path: string; readonly message: string }

/** An error lists at most this many problems, so that its size does not depend on the input. */
export const maxFieldProblems = 50

/**
 * A failure that the caller may see. Its message is short, says what is wrong and what to do, and contains no
 * secret.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly retryAfterSeconds: number | undefined
  /** Text for the call log: the message, unless readers of the log may see more than the caller. */
  readonly logMessage: string
  /**
   * The violated rule and the remedy, if the text of the message is fixed. The caller and the log show the hint, so it
   * contains no secret.
   */
  readonly hint: string | undefined
  /** Facts about the failure for programs; they contain no secret. */
  readonly details: Readonly<Record<string, unknown>>
  /** All values that break a rule. The error message is the message of the first problem. */
  readonly fields: readonly FieldProblem[]
  /** True if the caller lacks a role. Then the message names the role. */
  readonly isNotPermitted: boolean
  constructor(
    code: ErrorCode,
    message: string,
    options: {
      retryAfterSeconds?: number
      cause?: unknown
      logMessage?: string
      hint?: string | undefined
      details?: Readonly<Record<string, unknown>>
      fields?: readonly FieldProblem[]
      isNotPermitted?: true
    } = {},
  ) {
    super(truncate(message), { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.logMessage = truncate(options.logMessage ?? message)
    this.hint = options.hint === undefined ? undefined : truncate(options.hint)
    this.details = options.details ?? {}
    const fields = options.fields?.slice(0, maxFieldProblems) ?? []
    this.fields = fields.map((field) => ({ path: field.path, message: truncate(field.message) }))
    this.isNotPermitted = options.isNotPermitted ?? false
    const needsRetryAfter = code === 'unavailable' || code === 'rate_limited'
    this.retryAfterSeconds = options.retryAfterSeconds ?? (needsRetryAfter ? 1 : undefined)
  }
  get status(): number {
    return statusByCode[this.code]
  }
}

const nameField = (message: string, path: string | undefined): FieldProblem[] =>
  path === undefined ? [] : [{ path, message }]

/** A value the caller sent breaks a rule. `path` leads to the value, if it is known. */
export const badRequest = (message: string, path?: string): AppError =>
  new AppError('bad_request', message, { fields: nameField(message, path) })
/** The object does not exist or is invisible to the caller: both cases return the same message. */
export const notFound = (noun: string): AppError => new AppError('not_found', `${noun} not found`)
/** The caller can see the object but may not perform this operation. */
export const forbidden = (message: string): AppError => new AppError('forbidden', message)
/** The caller lacks a role, which the message names. */
export const notPermitted = (reason: string): AppError =>
  new AppError('forbidden', `not permitted: ${reason}`, { isNotPermitted: true })
/** The current state does not allow the operation. */
export const conflict = (message: string, path?: string): AppError =>
  new AppError('conflict', message, { fields: nameField(message, path) })
/** Too many failures; the caller may try again after `waitMs` milliseconds. */
export const rateLimited = (message: string, waitMs: number): AppError =>
  new AppError('rate_limited', message, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) })
/** A dependency of the service does not respond at the moment. */
export const unavailable = (message: string, cause?: unknown): AppError =>
  new AppError('unavailable', message, { retryAfterSeconds: 1, cause })

/** Returns the row; throws "… not found" if it is null or undefined. */
export function orNotFound<T>(row: T | null | undefined, noun: string): T {
  if (row === null || row === undefined) throw notFound(noun)
  return row
}
