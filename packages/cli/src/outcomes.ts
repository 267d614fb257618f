// Maps errors to an exit code and a message that tells the user what to do.
import { ConnectionError, type FieldProblem, GraphqlError, ResponseError } from '@manager/client'
import { type ExitCode, Failure, exitCodes } from './failures.ts'
import { getHint } from './hints.ts'

const signInHint = 'Sign in with: svc login --url <address>'

type Outcome = { exitCode: ExitCode; text: string }

/** Returns the exit code and the message for an error. The message ends with the next command, if there is one. */
export function getOutcome(error: unknown, signal: AbortSignal): Outcome {
  const outcome = classify(error, signal)
  const hint = signal.aborted ? null : getHint(error)
  return hint === null ? outcome : { ...outcome, text: `${outcome.text}\n${hint}` }
}

function classify(error: unknown, signal: AbortSignal): Outcome {
  if (error instanceof Failure) return { exitCode: error.exitCode, text: error.message }
  if (signal.aborted && signal.reason instanceof Failure)
    return { exitCode: signal.reason.exitCode, text: signal.reason.message }
  if (error instanceof ConnectionError)
    return { exitCode: exitCodes.connection, text: formatConnectionError(error) }
  if (error instanceof GraphqlError) return getGraphqlOutcome(error)
  if (error instanceof ResponseError) return getResponseOutcome(error)
  return { exitCode: exitCodes.failed, text: (error as Error).message }
}

function formatConnectionError({ message, cause }: ConnectionError): string {
  const reason = cause instanceof Error ? getReason(cause) : ''
  const suffix = reason === '' ? '' : ` (${reason})`
  return `The Manager cannot be reached: ${message}${suffix}. Check the address (--url, SVC_URL) and the network.`
}

/** Returns the reason for a connection failure. fetch puts the actual reason in the `cause` of its error. */
function getReason(error: Error): string {
  const rootError = error.cause instanceof Error ? error.cause : error
  const { code } = rootError as { code?: unknown }
  return typeof code === 'string' ? code : rootError.message
}

/**
 * Returns one line per invalid value, or an empty string if there are fewer than two: the message already names
 * the first one.
 */
const listFields = (fields: readonly FieldProblem[]): string =>
  fields.length < 2 ? '' : fields.map(({ path, message }) => `\n${path}: ${message}`).join('')

function getGraphqlOutcome({ message, code, fields }: GraphqlError): { exitCode: ExitCode; text: string } {
  if (code === 'not_found')
    return {
      exitCode: exitCodes.notFound,
      text: `${message}. The object does not exist, or you cannot see it.`,
    }
  if (code === 'unauthenticated')
    return { exitCode: exitCodes.notSignedIn, text: `${message}. ${signInHint}` }
  return createRejectedOutcome(message, fields)
}

const createRejectedOutcome = (message: string, fields: readonly FieldProblem[]) => ({
  exitCode: exitCodes.failed,
  text: `The Manager rejected the request: ${message}${listFields(fields)}`,
})

function getResponseOutcome({ status, message, fields }: ResponseError): {
  exitCode: ExitCode
  text: string
} {
  if (status === 401)
    return {
      exitCode: exitCodes.notSignedIn,
      text: `The credential was rejected: ${message}. Use the address of the proxy, not of the Manager. ${signInHint}`,
    }
  if (status === 404) return { exitCode: exitCodes.notFound, text: `Not found: ${message}` }
  if (status >= 300 && status < 400)
    return {
      exitCode: exitCodes.connection,
      text: `The address returned a redirect (${status}). Use the target of the redirect as the address.`,
    }
  if (status === 502 || status === 503 || status === 504)
    return {
      exitCode: exitCodes.connection,
      text: `The Manager is not available: ${message}. Try again later.`,
    }
  return createRejectedOutcome(message, fields)
}
