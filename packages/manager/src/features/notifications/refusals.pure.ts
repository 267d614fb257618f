// Defines the errors for rejected notifications and live hints.
import { AppError, badRequest, forbidden, rateLimited } from '../../platform/errors.ts'

// These two messages are part of the public API.
const disabledText = 'comms_disabled'
const rateText = 'rate_limited'

export const createCommsDisabledError = (): AppError => forbidden(disabledText)
export const createForeignTargetError = (): AppError =>
  forbidden('application_id and tenant_id must name an application and a tenant of your project')
export const createReusedKeyError = (): AppError =>
  new AppError(
    'key_reused',
    'the key was already used for a different body in the last 24 hours; send another key',
  )
export const createPastExpiryError = (): AppError =>
  badRequest('expires_at must be in the future', 'expires_at')

export const createRateExceededError = (waitMs: number): AppError => rateLimited(rateText, waitMs)

/** Returns the metric label of an error. The label of unknown errors is `failed`. */
export function getRefusalLabel(error: unknown) {
  const code = error instanceof AppError ? error.code : null
  if (code === 'forbidden') return (error as AppError).message === disabledText ? 'disabled' : 'foreign'
  return code === 'rate_limited' ? code : 'failed'
}

/** Works like `getRefusalLabel`, but has two additional labels for emits. */
export function getEmitRefusalLabel(error: unknown) {
  const code = error instanceof AppError ? error.code : null
  if (code === 'bad_request') return 'past'
  return code === 'key_reused' ? code : getRefusalLabel(error)
}
