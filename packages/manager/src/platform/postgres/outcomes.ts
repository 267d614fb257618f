// Determines from the error and its phase whether a failed statement certainly changed nothing, and whether another
// connection may succeed. The caller learns if the outcome is unknown.

/**
 * The phase in which an error occurred: while connecting, before the COMMIT of a transaction, or while committing. A
 * write outside a transaction commits by itself.
 */
export type FailurePhase = 'connecting' | 'before commit' | 'committing'
/** The effect of a failed change. */
export type Outcome = 'not applied' | 'unknown'

/** Messages of pg for statements that it did not send. */
const unsentMessages = [
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end',
]
/** Codes that only occur while connecting, never on an open connection. */
const unsentCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EMFILE', 'ENFILE'])
// 57P03, 08001, 08004, 28 and 3D: refused while connecting; 53300: too many connections.
const refusedStatePattern = /^(?:57P03|53300|08001|08004|28|3D)/
// A server that closes the connection or crashes reports SQLSTATE 57P01, 57P02, 57P04 or 57P05, or a code of class 53,
// 58 or XX. This can happen after the commit is on disk, while the server waits for its replica. A pooler that has
// lost the server reports class 08. 40003 itself means that the outcome is unknown.
const unknownOutcomeStatePattern = /^(?:08|53|58|XX|57P0[1245]$|40003$)/
// Operating system codes start with E, which no SQLSTATE does.
const sqlStatePattern = /^[0-9A-DF-Z][0-9A-Z]{4}$/

type ErrorFields = { code?: unknown; message?: unknown }
const getCode = (error: unknown): string => {
  const { code } = (error ?? {}) as ErrorFields
  return typeof code === 'string' ? code : ''
}
const getMessage = (error: unknown): string => {
  const { message } = (error ?? {}) as ErrorFields
  return typeof message === 'string' ? message : ''
}
const hasMessage = (error: unknown, texts: readonly string[]): boolean => {
  const text = getMessage(error)
  return texts.some((fragment) => text.includes(fragment))
}

/** Returns whether a failed statement, or its transaction, certainly changed nothing. */
export function determineOutcome(error: unknown, phase: FailurePhase): Outcome {
  if (phase !== 'committing') return 'not applied'
  const code = getCode(error)
  if (unsentCodes.has(code) || refusedStatePattern.test(code) || hasMessage(error, unsentMessages))
    return 'not applied'
  // Every other server error means that the server rolled back the statement.
  return sqlStatePattern.test(code) && !unknownOutcomeStatePattern.test(code) ? 'not applied' : 'unknown'
}

const lostMessages = [
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
]
const lostCodes = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE'])
// Class 08: a pooler has lost the server; 25006: the server rejects writes, maybe since a failover.
const lostStatePattern = /^(?:08(?:000|003|006|P01)|57P0[1-5]|25006)$/

/** Whether the connection is lost or its server is stopping. Other connections to the server are unusable too. */
export const isLost = (error: unknown): boolean => {
  const code = getCode(error)
  return (
    lostCodes.has(code) ||
    lostStatePattern.test(code) ||
    (!sqlStatePattern.test(code) && isTerminated(getMessage(error)))
  )
}
const isTerminated = (text: string): boolean =>
  text === 'Connection terminated' || lostMessages.some((fragment) => text.includes(fragment))

/**
 * Whether another connection may succeed soon. This excludes timeouts, after which no time is left, and servers that
 * have too many connections.
 */
export const isRetryable = (error: unknown): boolean => isLost(error) || getCode(error) === 'ECONNREFUSED'

/** Whether PostgreSQL ended a deadlock by rolling back this transaction. */
export const isDeadlock = (error: unknown): boolean => getCode(error) === '40P01'

/** Whether the transaction conflicted with another one, so that a retry would probably succeed. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(getCode(error))

/** Whether the server rejected the statement, so that the connection is still usable. */
export const isRejected = (error: unknown): boolean => sqlStatePattern.test(getCode(error)) && !isLost(error)

const unknownOutcomes = new WeakSet<Error>()

/** Marks the error if the outcome of the change is unknown; `isOutcomeUnknown` reads the mark. */
export function markOutcome(error: unknown, phase: FailurePhase): void {
  if (error instanceof Error && determineOutcome(error, phase) === 'unknown') unknownOutcomes.add(error)
}

/** Returns true if it is unknown whether the change was applied. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof Error && unknownOutcomes.has(error)
