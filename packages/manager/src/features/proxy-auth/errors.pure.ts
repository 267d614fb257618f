// Defines the errors that are returned to the proxy.
import { AppError, rateLimited } from '../../platform/errors.ts'

/** Returns 429 with the remaining time of the block. */
export const createTooManyFailuresError = (blockedMs: number): AppError =>
  rateLimited('too many failed validations; try again later', blockedMs)

/** Returns 401 with the same message for every problem with a credential. */
export const createInvalidCredentialsError = (): AppError =>
  new AppError('unauthenticated', 'invalid credentials: unknown, expired, revoked or disabled')
