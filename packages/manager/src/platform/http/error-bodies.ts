// Renders an AppError in the body shape of each route group.
import { AppError } from '../errors.ts'

/** `page` is HTML; an unauthenticated caller that does not accept HTML gets `error` instead. */
export type ErrorShape = 'error' | 'envelope' | 'graphql' | 'page' | 'scim' | 'validation'

/** The media type of SCIM bodies (RFC 7644, section 8.1). */
export const scimMediaType = 'application/scim+json; charset=utf-8'
/** The schema of SCIM error bodies (RFC 7644, section 3.12). */
export const scimErrorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error'

/** Returns the body of an error response in the shape of its route group. */
export function createErrorBody(
  shape: ErrorShape,
  error: AppError,
  requestId: string,
): Record<string, unknown> {
  if (shape === 'scim') return createScimErrorBody(error)
  const { code, message, hint, fields } = error
  const common = { code, request_id: requestId, ...(hint === undefined ? {} : { hint }) }
  if (shape === 'graphql') {
    const extensions = fields.length === 0 ? common : { ...common, fields }
    return { errors: [{ message, extensions }], data: null }
  }
  const additions = fields.length === 0 ? common : { ...common, details: fields }
  if (shape === 'envelope') return { success: false, message, ...additions }
  if (shape === 'validation') return { valid: false, message, ...additions }
  return { error: message, ...additions }
}

/** Statuses that have a keyword in `scimType`, unless the error names another one. */
const scimTypes: Readonly<Record<number, string>> = { 400: 'invalidSyntax', 409: 'uniqueness' }

/** The status of a SCIM error is a string. */
function createScimErrorBody({ status, message, details }: AppError): Record<string, unknown> {
  const scimType = typeof details['scimType'] === 'string' ? details['scimType'] : scimTypes[status]
  return {
    schemas: [scimErrorSchema],
    status: String(status),
    ...(scimType === undefined ? {} : { scimType }),
    detail: message,
  }
}

const errorsByFastifyCode: Record<string, [AppError['code'], string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'the request body is larger than this route accepts'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'send the body as application/json; charset=utf-8',
  ],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['bad_request', 'the request body is empty; send a JSON object'],
}

/**
 * Converts any thrown value to an AppError. The message of an unexpected error contains only the request id.
 */
export function toAppError(
  error: unknown,
  requestId: string,
  mapDbError: (e: unknown) => AppError | null,
): AppError {
  if (error instanceof AppError) return error
  const dbError = mapDbError(error)
  if (dbError !== null) return dbError
  const { code = '', statusCode } = (error ?? {}) as { code?: string; statusCode?: number }
  const knownError = errorsByFastifyCode[code]
  if (knownError !== undefined) return new AppError(knownError[0], knownError[1])
  // Fastify itself rejects a URL that cannot be decoded or that has a segment that is too long.
  if (statusCode === 400 || statusCode === 414) return new AppError('bad_request', 'the request is malformed')
  return new AppError('internal', `internal error; the request id is ${requestId}`, { cause: error })
}
