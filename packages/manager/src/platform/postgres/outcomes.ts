// What became of a statement that failed. One place decides, from the error and from where it struck: whether nothing was
// changed for certain, and whether another connection may do better. What is not certain is told to the caller as such.

/**
 * Where an error struck: while a connection was made, in a statement whose effects a later COMMIT decides, or in one that
 * commits: COMMIT itself, or a write outside a transaction.
 */
export type Struck = 'connecting' | 'before commit' | 'committing'
export type Outcome = 'not applied' | 'unknown'

/** How pg says that it sent nothing. */
const unsentTexts = [
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end',
]
/** No connection was made: these never come from one that is open. */
const unsentCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EMFILE', 'ENFILE'])
// 57P03, 08001, 08004, 28 and 3D: refused at its start; 53300: too many connections.
const refusedStates = /^(?:57P03|53300|08001|08004|28|3D)/
// Sent by a server that ends the connection or crashes (57P01, 57P02, 57P04, 57P05, 53, 58, XX), which may happen after the
// commit is on disk and while its replica is waited for; by a pooler that lost the server (08); or saying so itself (40003).
const unsureStates = /^(?:08|53|58|XX|57P0[1245]$|40003$)/
// No SQLSTATE begins with E, as the codes of the operating system do.
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
const says = (error: unknown, texts: readonly string[]): boolean => {
  const text = textOf(error)
  return texts.some((one) => text.includes(one))
}

/** Whether a failed statement, or the transaction it was in, has changed nothing for certain. */
export function outcomeOf(error: unknown, struck: Struck): Outcome {
  if (struck !== 'committing') return 'not applied'
  const code = codeOf(error)
  if (unsentCodes.has(code) || refusedStates.test(code) || says(error, unsentTexts)) return 'not applied'
  // Every other answer of the server is that of a statement it has rolled back.
  return isState.test(code) && !unsureStates.test(code) ? 'not applied' : 'unknown'
}

const lostTexts = [
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
]
const lostCodes = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE'])
// A pooler says 08 when it has lost the server; 25006: a server that takes no writes (any more).
const lostStates = /^(?:08(?:000|003|006|P01)|57P0[1-5]|25006)$/

/** The connection is lost, or leads to a server that is going: others to the same server are as good as lost. */
export const isLost = (error: unknown): boolean => {
  const code = codeOf(error)
  return lostCodes.has(code) || lostStates.test(code) || (!isState.test(code) && isTerminated(textOf(error)))
}
const isTerminated = (text: string): boolean =>
  text === 'Connection terminated' || lostTexts.some((one) => text.includes(one))

/**
 * Another connection may do better within a moment. Not after a timeout, whose time is over, nor where a server has too
 * many connections already.
 */
export const isWorthAnother = (error: unknown): boolean => isLost(error) || codeOf(error) === 'ECONNREFUSED'

/** The transaction lost against another one, and would probably succeed if it ran again. */
export const isLostRace = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error))

/** The server says what is wrong with the statement; the connection can be used again. */
export const isRejected = (error: unknown): boolean => isState.test(codeOf(error)) && !isLost(error)

const unsure = new WeakSet<Error>()

/** Notes of an error what became of the change, for whoever tells the caller. */
export function noteOutcome(error: unknown, struck: Struck): void {
  if (error instanceof Error && outcomeOf(error, struck) === 'unknown') unsure.add(error)
}

/** The change may or may not have been made. */
export const isUnsure = (error: unknown): boolean => error instanceof Error && unsure.has(error)
