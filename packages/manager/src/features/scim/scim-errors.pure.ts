// Errors of SCIM requests. `scimType` is the keyword of RFC 7644, section 3.12, by which a client tells them apart.
import { AppError } from '../../platform/errors.ts'

type ScimType =
  'invalidFilter' | 'invalidPath' | 'invalidSyntax' | 'invalidValue' | 'mutability' | 'noTarget' | 'tooMany'

/** A 400 with this keyword. */
export const scimBadRequest = (scimType: ScimType, message: string): AppError =>
  new AppError('bad_request', message, { details: { scimType } })

/** A 409: another resource already has this value. */
export const notUnique = (message: string): AppError =>
  new AppError('conflict', message, { details: { scimType: 'uniqueness' } })

/** A 401: the token of the request is not usable. */
export const invalidToken = (): AppError =>
  new AppError(
    'unauthenticated',
    'invalid SCIM token: it is unknown, expired or revoked; ask an administrator for a new one',
  )

/** A 412: the request names a version of the resource that is not the current one. */
export const wrongVersion = (noun: 'user' | 'group'): AppError =>
  new AppError(
    'precondition_failed',
    `the ${noun} has changed since the version in If-Match; read the ${noun} again and repeat the change`,
  )

export const isWrongVersion = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'precondition_failed'
