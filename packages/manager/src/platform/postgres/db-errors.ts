// Turns what PostgreSQL reports into errors a caller may read. Constraints have names; each feature says in its
// `constraints` table what a violation of one of its own means.
import { AppError, type ErrorCode, unavailable } from '../errors.ts'
import { isUnsure } from './outcomes.ts'

export type ConstraintMeanings = Record<string, [ErrorCode, string]>

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
  // No file left for a connection, in this process or on this machine.
  'EMFILE',
  'ENFILE',
])
// 08: connection, 28 and 3D: refused at its start, 53: resources, 57: operator intervention, 58: system, 40: rollback,
// 55P03: lock timeout, 25006: the server takes no writes, 25P03 and 25P04: a transaction that took too long.
const unavailableStates = /^(?:08|28|3D|40|53|57|58|55P03$|25006$|25P03$|25P04$)/
const connectionTexts = [
  // How a pool says it, and how a single connection does.
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end',
]

/** No connection could be made, or it broke. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof Error &&
  (connectionCodes.has((error as { code?: string }).code ?? '') ||
    connectionTexts.some((text) => error.message.includes(text)))

const unsureText =
  'the database does not answer right now, and the change may or may not have been made; look before you try again'

/** Returns a function that maps a database failure to an AppError, or returns null when it is not one. */
export function createDbErrorReader(meanings: ConstraintMeanings) {
  return function readDbError(error: unknown): AppError | null {
    if (!(error instanceof Error)) return null
    const { code = '', constraint = '' } = error as { code?: string; constraint?: string }
    const meaning = code.startsWith('23') ? meanings[constraint] : undefined
    if (meaning !== undefined) return new AppError(meaning[0], meaning[1], { cause: error })
    // 22021 and 22P05: text PostgreSQL cannot store, such as U+0000.
    if (code === '22021' || code === '22P05')
      return new AppError('bad_request', 'a text contains a character that cannot be stored', {
        cause: error,
      })
    if (code === '57014')
      return unavailable('the database took too long over this; ask for less, or try again', error)
    if (unavailableStates.test(code) || isUnreachable(error))
      return unavailable(
        isUnsure(error) ? unsureText : 'the database does not answer right now; try again',
        error,
      )
    return null
  }
}

export type DbErrorReader = ReturnType<typeof createDbErrorReader>
