// The one error class. Its codes are a closed list; each route group renders it in the body shape the interface
// prescribes (see platform/http/error-bodies.ts and platform/graphql/endpoint.ts).

const statusByCode = {
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  gone: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  key_reused: 422,
  rate_limited: 429,
  internal: 500,
  template_failed: 500,
  bad_gateway: 502,
  unavailable: 503,
} as const

export type ErrorCode = keyof typeof statusByCode
export const errorCodes = Object.keys(statusByCode) as ErrorCode[]

// Messages quote names and texts of callers, which may have megabytes.
const maxMessageLength = 500
const cut = (message: string): string =>
  message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength).toWellFormed()}…`

/** A failure the caller may read: its message says what is wrong and what to do, is short, and never holds a secret. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly retryAfterSeconds: number | undefined
  /** What the log of calls says: the message, unless its readers may know more than the caller. */
  readonly logged: string
  /** The rule behind a message whose text is fixed, and what to do, for the caller and the log; never a secret. */
  readonly hint: string | undefined
  /** The caller lacks a role, which the message names. */
  readonly isNotPermitted: boolean
  constructor(
    code: ErrorCode,
    message: string,
    options: {
      retryAfterSeconds?: number
      cause?: unknown
      logged?: string
      hint?: string
      isNotPermitted?: true
    } = {},
  ) {
    super(cut(message), { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.logged = cut(options.logged ?? message)
    this.hint = options.hint === undefined ? undefined : cut(options.hint)
    this.isNotPermitted = options.isNotPermitted ?? false
    const mustSay = code === 'unavailable' || code === 'rate_limited'
    this.retryAfterSeconds = options.retryAfterSeconds ?? (mustSay ? 1 : undefined)
  }
  get status(): number {
    return statusByCode[this.code]
  }
}

/** A value the caller sent breaks a rule. */
export const badRequest = (message: string): AppError => new AppError('bad_request', message)
/** The thing does not exist, or is out of the caller's reach: both give the same text. */
export const notFound = (what: string): AppError => new AppError('not_found', `${what} not found`)
/** The caller sees the thing but may not do this with it. */
export const forbidden = (message: string): AppError => new AppError('forbidden', message)
/** The same, because the caller lacks a role; the text says which. */
export const notPermitted = (reason: string): AppError =>
  new AppError('forbidden', `not permitted: ${reason}`, { isNotPermitted: true })
/** The present state does not allow this. */
export const conflict = (message: string): AppError => new AppError('conflict', message)
/** Too many failures; the caller may try again after `waitMs` milliseconds. */
export const rateLimited = (message: string, waitMs: number): AppError =>
  new AppError('rate_limited', message, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) })
/** A part the service needs does not answer right now. */
export const unavailable = (message: string, cause?: unknown): AppError =>
  new AppError('unavailable', message, { retryAfterSeconds: 1, cause })

/** The row, or "… not found". */
export function orNotFound<T>(row: T | null | undefined, what: string): T {
  if (row === null || row === undefined) throw notFound(what)
  return row
}
