// Reads a personal access token from a request.
import type { FastifyRequest } from 'fastify'
import { parseAuthorization } from '../platform/credentials/authorization.ts'
import { AppError } from '../platform/errors.ts'
import { readAuthorization } from '../platform/http/headers.ts'
import type { Metrics } from '../platform/metrics.ts'

/**
 * A proxy may forward the Authorization header of its own session, which is ignored. The prefix `pat_` identifies
 * personal access tokens.
 */
export function readPersonalToken(request: FastifyRequest, metrics: Metrics): string | null {
  const header = readAuthorization(request.raw)
  if (header === '') {
    metrics.gateRejections.inc({ reason: 'identity' })
    throw new AppError('unauthenticated', 'invalid authenticated user: Authorization is sent more than once')
  }
  // A malformed token must be rejected; the session must not replace it.
  if (header === null || !/(?:^|\s)pat_/.test(header)) return null
  const authorization = parseAuthorization(header)
  return authorization?.scheme === 'bearer' ? authorization.value : 'pat_malformed'
}

/**
 * User routes have no rate limit. After too many hashing attempts, the response is therefore the overload error with
 * the same Retry-After.
 */
export function toOverloadError(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 'rate_limited') throw error
  const { message, retryAfterSeconds = 1 } = error
  throw new AppError('unavailable', message, { retryAfterSeconds, cause: error })
}
