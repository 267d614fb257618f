// What ends a command badly: its exit code, and a text that says what to do.
import { ConnectionError, GraphqlError, ResponseError } from '@manager/client'
import { CommanderError } from 'commander'

export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notSignedIn: 3,
  notFound: 4,
  connection: 5,
  interrupted: 130,
  terminated: 143,
} as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** A failure of which the program itself knows what to say. */
export class Failure extends Error {
  readonly kind: keyof typeof exitCodes
  readonly exitCode: ExitCode

  constructor(kind: keyof typeof exitCodes, message: string) {
    super(message)
    this.name = 'Failure'
    this.kind = kind
    this.exitCode = exitCodes[kind]
  }
}

const signIn = 'Sign in with: svc login --url <address>'

/** What a command ends with; a text that is empty is not shown. */
export function outcomeOf(error: unknown, signal: AbortSignal): { exitCode: ExitCode; text: string } {
  if (error instanceof Failure) return { exitCode: error.exitCode, text: error.message }
  if (signal.aborted && signal.reason instanceof Failure)
    return { exitCode: signal.reason.exitCode, text: signal.reason.message }
  // Commander has said it already.
  if (error instanceof CommanderError)
    return { exitCode: error.exitCode === 0 ? exitCodes.ok : exitCodes.usage, text: '' }
  if (error instanceof ConnectionError) return { exitCode: exitCodes.connection, text: connectionText(error) }
  if (error instanceof GraphqlError) return graphqlOutcome(error)
  if (error instanceof ResponseError) return responseOutcome(error)
  return { exitCode: exitCodes.failed, text: (error as Error).message }
}

function connectionText({ message, cause }: ConnectionError): string {
  const reason = cause instanceof Error ? reasonOf(cause) : ''
  const shown = reason === '' ? '' : ` (${reason})`
  return `The Manager cannot be reached: ${message}${shown}. Check the address (--url, SVC_URL) and the network.`
}

/** What fetch says lies in the cause of what it throws. */
function reasonOf(error: Error): string {
  const inner = error.cause instanceof Error ? error.cause : error
  const { code } = inner as { code?: unknown }
  return typeof code === 'string' ? code : inner.message
}

function graphqlOutcome({ message, code }: GraphqlError): { exitCode: ExitCode; text: string } {
  if (code === 'not_found')
    return { exitCode: exitCodes.notFound, text: `${message}. It does not exist, or you cannot see it.` }
  if (code === 'unauthenticated') return { exitCode: exitCodes.notSignedIn, text: `${message}. ${signIn}` }
  return { exitCode: exitCodes.failed, text: `The Manager refused: ${message}` }
}

function responseOutcome({ status, message }: ResponseError): { exitCode: ExitCode; text: string } {
  if (status === 401)
    return {
      exitCode: exitCodes.notSignedIn,
      text: `The credential was refused: ${message}. Give the address of the proxy, not of the Manager. ${signIn}`,
    }
  if (status === 404) return { exitCode: exitCodes.notFound, text: `Not found: ${message}` }
  if (status >= 300 && status < 400)
    return {
      exitCode: exitCodes.connection,
      text: `The address answers with a redirect (${status}). Give the address that it redirects to.`,
    }
  if (status === 502 || status === 503 || status === 504)
    return {
      exitCode: exitCodes.connection,
      text: `The Manager is not available: ${message}. Try again later.`,
    }
  return { exitCode: exitCodes.failed, text: `The Manager refused: ${message}` }
}
