// Converts PostgreSQL errors into errors for API callers. Each feature declares in its `constraints` table what a
// violation of its constraints means.
import { AppError, type ErrorCode, unavailable } from '../errors.ts'
import { isOutcomeUnknown } from './outcomes.ts'

/** The error code and message for each constraint name, and the path of the value that violates the constraint. */
export type ConstraintMeanings = Record<string, [code: ErrorCode, message: string, path?: string]>

const connectionCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  // No file descriptor is left for a connection, in this process or on this machine.
  'EMFILE',
  'ENFILE',
])
// 08: connection, 28 and 3D: refused while connecting, 53: resources, 57: operator intervention, 58: system, 40:
// rollback, 55P03: lock timeout, 25006: read-only server, 25P03 and 25P04: transaction timeout.
const unavailableStatePattern = /^(?:08|28|3D|40|53|57|58|55P03$|25006$|25P03$|25P04$)/
const connectionMessages = [
  // The connect timeouts of a pool and of a single connection.
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end',
]

/** Whether the connection failed to open or broke. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof Error &&
  (connectionCodes.has((error as { code?: string }).code ?? '') ||
    connectionMessages.some((text) => error.message.includes(text)))

const unknownOutcomeText =
  'the database is not responding, and the change may or may not have been applied; check before you retry'

/** Returns a function that maps a database error to an AppError, or returns null for other errors. */
export function createDbErrorMapper(meanings: ConstraintMeanings) {
  return function mapDbError(error: unknown): AppError | null {
    if (!(error instanceof Error)) return null
    const { code = '', constraint = '' } = error as { code?: string; constraint?: string }
    const meaning = code.startsWith('23') ? meanings[constraint] : undefined
    if (meaning !== undefined) {
      const [meaningCode, message, path] = meaning
      const fields = path === undefined ? [] : [{ path, message }]
      return new AppError(meaningCode, message, { cause: error, fields })
    }
    // 22021 and 22P05: text that PostgreSQL cannot store, such as U+0000.
    if (code === '22021' || code === '22P05')
      return new AppError('bad_request', 'a value contains a character that cannot be stored', {
        cause: error,
      })
    if (code === '57014')
      return unavailable('the database query timed out; request less data, or try again', error)
    if (unavailableStatePattern.test(code) || isUnreachable(error))
      return unavailable(
        isOutcomeUnknown(error) ? unknownOutcomeText : 'the database is not responding; try again',
        error,
      )
    return null
  }
}

/** Maps a database error to an AppError, or returns null for other errors. */
export type DbErrorMapper = ReturnType<typeof createDbErrorMapper>
