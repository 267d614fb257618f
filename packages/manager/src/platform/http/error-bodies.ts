// The body shapes of the interface, from the one error class.
import { AppError } from '../errors.ts'

/** `page` is HTML for people, and `error` to who does not ask for it before they are known. */
export type ErrorShape = 'error' | 'envelope' | 'graphql' | 'page' | 'validation'

/** The body of an error response in the shape of its route group. */
export function errorBody(shape: ErrorShape, error: AppError, requestId: string): Record<string, unknown> {
  const { code, hint } = error
  const extra = { code, request_id: requestId, ...(hint === undefined ? {} : { hint }) }
  if (shape === 'envelope') return { success: false, message: error.message, ...extra }
  if (shape === 'validation') return { valid: false, message: error.message, ...extra }
  if (shape === 'graphql') return { errors: [{ message: error.message, extensions: extra }], data: null }
  return { error: error.message, ...extra }
}

const byFastifyCode: Record<string, [AppError['code'], string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'the request body is larger than this route accepts'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'send the body as application/json; charset=utf-8',
  ],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['bad_request', 'the request body is empty; send a JSON object'],
}

/** Any thrown value as an AppError; an unexpected one becomes 500 and says nothing but the request id. */
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
  // What Fastify refuses by itself: an address that does not decode, or a part of one that is too long.
  if (statusCode === 400 || statusCode === 414) return new AppError('bad_request', 'the request is malformed')
  return new AppError('internal', `internal error; the request id is ${requestId}`, { cause: error })
}
