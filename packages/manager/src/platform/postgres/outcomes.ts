// Determines from the error and its phase whether a failed statement certainly changed nothing, and whether another
// connection may succeed. The caller learns if the outcome is unknown.

/**
 * The phase in which an error occurred: while connecting, before the COMMIT of a transaction, or while committing. A
 * write outside a transaction commits by itself.
 */
export type FailurePhase = 'connecting' | 'before commit' | 'committing'
/** The effect of a failed change. */
export type Outcome = 'not applied' | 'unknown'

/** Messages of pg which mean that it sent nothing. */
const unsentTexts = [
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end',
]
/** Codes that only occur while connecting, never on an open connection. */
const unsentCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EMFILE', 'ENFILE'])
// 57P03, 08001, 08004, 28 and 3D: refused while connecting; 53300: too many connections.
const refusedStates = /^(?:57P03|53300|08001|08004|28|3D)/
// A server that closes the connection or crashes sends 57P01, 57P02, 57P04, 57P05, 53, 58 or XX. This can happen after
// the commit is on disk, while the server waits for its replica. A pooler that has lost the server sends 08. 40003
// itself means that the outcome is unknown.
const unknownOutcomeStates = /^(?:08|53|58|XX|57P0[1245]$|40003$)/
// Operating system codes start with E, which no SQLSTATE does.
const isState = /^[0-9A-DF-Z][0-9A-Z]{4}$/

type Coded = { code?: unknown; message?: unknown }
const codeOf = (error: unknown): string => {
  const { code } = (error ?? {}) as Coded
  return typeof code === 'string' ? code : ''
}
const textOf = (error: unknown): string => {
  const { message } = (error ?? {}) as Coded
  return typeof message === 'string' ? message : ''
}
const hasMessage = (error: unknown, texts: readonly string[]): boolean => {
  const text = textOf(error)
  return texts.some((one) => text.includes(one))
}

/** Returns whether a failed statement, or its transaction, certainly changed nothing. */
export function outcomeOf(error: unknown, phase: FailurePhase): Outcome {
  if (phase !== 'committing') return 'not applied'
  const code = codeOf(error)
  if (unsentCodes.has(code) || refusedStates.test(code) || hasMessage(error, unsentTexts))
    return 'not applied'
  // Every other error of the server means that it has rolled back the statement.
  return isState.test(code) && !unknownOutcomeStates.test(code) ? 'not applied' : 'unknown'
}

const lostTexts = [
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
]
const lostCodes = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE'])
// 08: a pooler has lost the server; 25006: the server rejects writes, maybe since a failover.
const lostStates = /^(?:08(?:000|003|006|P01)|57P0[1-5]|25006)$/

/** Whether the connection is lost or its server is stopping. Other connections to the server are unusable too. */
export const isLost = (error: unknown): boolean => {
  const code = codeOf(error)
  return lostCodes.has(code) || lostStates.test(code) || (!isState.test(code) && isTerminated(textOf(error)))
}
const isTerminated = (text: string): boolean =>
  text === 'Connection terminated' || lostTexts.some((one) => text.includes(one))

/**
 * Whether another connection may succeed soon. This excludes timeouts, after which no time is left, and servers that
 * have too many connections.
 */
export const isRetryable = (error: unknown): boolean => isLost(error) || codeOf(error) === 'ECONNREFUSED'

/** Whether the transaction conflicted with another one, so that a retry would probably succeed. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error))

/** Whether the server rejected the statement, so that the connection is still usable. */
export const isRejected = (error: unknown): boolean => isState.test(codeOf(error)) && !isLost(error)

const unknownOutcomes = new WeakSet<Error>()

/** Marks the error if the outcome of the change is unknown; `isOutcomeUnknown` reads the mark. */
export function markOutcome(error: unknown, phase: FailurePhase): void {
  if (error instanceof Error && outcomeOf(error, phase) === 'unknown') unknownOutcomes.add(error)
}

/** Returns true if it is unknown whether the change was applied. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof Error && unknownOutcomes.has(error)
