// Maps the errors of requests to the failure states that the console can show.
import { ConnectionError, type FieldProblem, GraphqlError, ResponseError } from '@manager/client'
import { OfflineError } from './connection.ts'

export type FailureKind =
  | 'sessionEnded'
  | 'notFound'
  | 'forbidden'
  | 'invalid'
  | 'conflict'
  | 'rateLimited'
  | 'unavailable'
  | 'offline'
  | 'unreachable'
  | 'unknownOutcome'
  | 'unexpected'

export type Failure = {
  readonly kind: FailureKind
  /** The message of the Manager, for kinds whose message says what to change. */
  readonly message: string
  readonly fields: readonly FieldProblem[]
  readonly requestId: string | null
  readonly retryAfterMs: number | null
  /** With the kind `conflict`: the person who made the other change, if the caller may know. */
  readonly changedBy: string | null
}

const kindsOfCode: Readonly<Record<string, FailureKind>> = {
  CONFLICT: 'conflict',
  not_found: 'notFound',
  forbidden: 'forbidden',
  unauthorized: 'sessionEnded',
  rate_limited: 'rateLimited',
  unavailable: 'unavailable',
  invalid: 'invalid',
  conflict: 'invalid',
}

function findKind(error: unknown, isChange: boolean): FailureKind {
  if (error instanceof ConnectionError) {
    if (error.cause instanceof OfflineError) return 'offline'
    if (isChange) return 'unknownOutcome'
    return navigator.onLine ? 'unreachable' : 'offline'
  }
  if (error instanceof GraphqlError)
    return kindsOfCode[error.code ?? ''] ?? (error.fields.length > 0 ? 'invalid' : 'unexpected')
  if (!(error instanceof ResponseError)) return 'unexpected'
  // A browser hides the status of a redirect to the sign-in page and reports 0.
  if (error.status === 0 || error.status === 401) return 'sessionEnded'
  if (error.status === 404) return 'notFound'
  if (error.status === 429) return 'rateLimited'
  // The proxy lost its connection to the Manager after it had sent the request.
  if (error.status === 502 || error.status === 504) return isChange ? 'unknownOutcome' : 'unavailable'
  if (error.status === 503) return 'unavailable'
  return kindsOfCode[error.code ?? ''] ?? 'unexpected'
}

/** Describes an error. `isChange` is true for mutations: after a lost connection, their outcome is unknown. */
export function describeFailure(error: unknown, { isChange = false } = {}): Failure {
  const [entry] = error instanceof GraphqlError ? error.errors : []
  const isResponse = error instanceof GraphqlError || error instanceof ResponseError
  return {
    kind: findKind(error, isChange),
    message: error instanceof Error ? error.message : String(error),
    fields: isResponse ? error.fields : [],
    requestId: entry?.extensions?.request_id ?? (error instanceof ResponseError ? error.requestId : null),
    retryAfterMs: isResponse ? error.retryAfterMs : null,
    changedBy: entry?.extensions?.changedBy ?? null,
  }
}

/** Returns messages by form field. The prefix `input.` of the API's paths is removed. */
export const toFieldErrors = (failure: Failure | null): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (failure?.fields ?? []).map(({ path, message }) => [path.replace(/^input\./, ''), message]),
  )
