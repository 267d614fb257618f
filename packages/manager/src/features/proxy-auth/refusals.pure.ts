// Refusals to the proxy.
import { AppError, rateLimited } from '../../platform/errors.ts'

/** 429, with the time the block still lasts. */
export const tooManyFailures = (blockedMs: number): AppError =>
  rateLimited('too many failed validations; try again later', blockedMs)

/** 401; the same text for everything that may be wrong with the credential. */
export const invalidCredentials = (): AppError =>
  new AppError('unauthenticated', 'invalid credentials: unknown, expired, revoked or disabled')
