// Renders the error class in the body shapes of the interface.
import { AppError } from '../errors.ts'

/** `page` is HTML; an unauthenticated caller that does not accept HTML gets `error` instead. */
export type ErrorShape = 'error' | 'envelope' | 'graphql' | 'page' | 'validation'

/** Returns the body of an error response in the shape of its route group. */
export function errorBody(shape: ErrorShape, error: AppError, requestId: string): Record<string, unknown> {
  const { code, hint } = error
  const details = { code, request_id: requestId, ...(hint === undefined ? {} : { hint }) }
  if (shape === 'envelope') return { success: false, message: error.message, ...details }
  if (shape === 'validation') return { valid: false, message: error.message, ...details }
  if (shape === 'graphql') return { errors: [{ message: error.message, extensions: details }], data: null }
  return { error: error.message, ...details }
}

const byFastifyCode: Record<string, [AppError['code'], string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'the request body is larger than this route accepts'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'send the body as application/json; charset=utf-8',
  ],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['bad_request', 'the request body is empty; send a JSON object'],
}

/** Converts any thrown value to an AppError; an unexpected one becomes a 500 that shows only the request id. */
export function toAppError(
  error: unknown,
  requestId: string,
  readDbError: (e: unknown) => AppError | null,
): AppError {
  if (error instanceof AppError) return error
  const fromDb = readDbError(error)
  if (fromDb !== null) return fromDb
  const { code = '', statusCode } = (error ?? {}) as { code?: string; statusCode?: number }
  const known = byFastifyCode[code]
  if (known !== undefined) return new AppError(known[0], known[1])
  // Fastify itself rejects a URL that does not decode, or that has a part which is too long.
  if (statusCode === 400 || statusCode === 414) return new AppError('bad_request', 'the request is malformed')
  return new AppError('internal', `internal error; the request id is ${requestId}`, { cause: error })
}
