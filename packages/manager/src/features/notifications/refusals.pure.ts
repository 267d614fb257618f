// Defines the errors for rejected notifications and live hints.
import { AppError, badRequest, forbidden, rateLimited } from '../../platform/errors.ts'

// These two texts are part of the public API.
const disabledText = 'comms_disabled'
const rateText = 'rate_limited'

export const commsDisabled = (): AppError => forbidden(disabledText)
export const foreignTarget = (): AppError =>
  forbidden('application_id and tenant_id must name an application and a tenant of your project')
export const keyReused = (): AppError =>
  new AppError('key_reused', 'the key was used for another body within 24 hours; send another key')
export const expiryInPast = (): AppError => badRequest('expires_at must be in the future')

export const rateExceeded = (waitMs: number): AppError => rateLimited(rateText, waitMs)

/** Returns the metric label of an error; unknown errors are `failed`. */
export function refusalOf(error: unknown) {
  const code = error instanceof AppError ? error.code : null
  if (code === 'forbidden') return (error as AppError).message === disabledText ? 'disabled' : 'foreign'
  return code === 'rate_limited' ? code : 'failed'
}

/** Works like `refusalOf`, with the two additional labels of emits. */
export function emitRefusalOf(error: unknown) {
  const code = error instanceof AppError ? error.code : null
  if (code === 'bad_request') return 'past'
  return code === 'key_reused' ? code : refusalOf(error)
}
