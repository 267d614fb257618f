// Login from a terminal: generates a key pair in memory, shows a code that the user compares, and decrypts a
// token that is sealed to the public key.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CliLogin,
  type CliLoginStatus,
  type Connection,
  ConnectionError,
  ResponseError,
  pollCliLogin,
  startCliLogin,
} from '@manager/client'
import { openBrowser } from './browser.ts'
import { Failure } from './failures.ts'
import { escapeControlCharacters } from './printable.ts'
import type { Terminal } from './terminal.ts'

type ApprovedLogin = Extract<CliLoginStatus, { status: 'approved' }>
export type ObtainedToken = { token: string; expiresAt: string }

/** Lets the user approve this terminal in a browser, and returns the token. */
export async function obtainToken(
  terminal: Terminal,
  connection: Connection,
  { tokenName, opensBrowser }: { tokenName: string; opensBrowser: boolean },
): Promise<ObtainedToken> {
  // Load this library only here, because loading is slow and only login needs it.
  const { default: sodium } = await import('libsodium-wrappers')
  await sodium.ready
  const { publicKey, privateKey } = sodium.crypto_box_keypair()
  const request = { publicKey: Buffer.from(publicKey).toString('base64'), tokenName }
  const login = await startCliLogin(connection, request, { signal: terminal.signal })
  terminal.stderr.write(
    formatPrompt(login, createHash('sha256').update(publicKey).digest('hex').slice(0, 16)),
  )
  if (opensBrowser && (await openBrowser(terminal, login.verificationUri)))
    terminal.stderr.write('The address is also open in your browser.\n')
  const { sealedToken, expiresAt } = await pollUntilDecided(terminal, connection, login)
  const tokenBytes = sodium.crypto_box_seal_open(Buffer.from(sealedToken, 'base64'), publicKey, privateKey)
  return { token: Buffer.from(tokenBytes).toString(), expiresAt }
}

const formatPrompt = ({ verificationUri, userCode, expiresAt }: CliLogin, fingerprint: string): string =>
  `Open this address in a browser, and compare the code:

  address  ${escapeControlCharacters(verificationUri)}
  code     ${escapeControlCharacters(userCode)}
  key      ${fingerprint.replace(/.{4}(?=.)/g, '$& ')}

Approve only a login that you started yourself. Waiting until ${escapeControlCharacters(expiresAt)}; press Ctrl-C to cancel.
`

/**
 * Polls at the interval that the Manager requests, within bounds. Throws if the login is denied or expires.
 */
async function pollUntilDecided(
  terminal: Terminal,
  connection: Connection,
  login: CliLogin,
): Promise<ApprovedLogin> {
  const deadlineMs = performance.now() + maxLoginMs
  let waitMs = toPollDelayMs(login.interval, defaultPollDelayMs)
  while (performance.now() < deadlineMs) {
    const result = await poll(terminal, connection, login)
    if (result.status === 'approved') return result
    if (result.status === 'denied' || result.status === 'expired') throw createLoginFailure(result.status)
    waitMs = toPollDelayMs(getNextInterval(result, waitMs), waitMs)
    await sleep(waitMs, undefined, { signal: terminal.signal })
  }
  throw createLoginFailure('expired')
}

const [defaultPollDelayMs, minPollDelayMs, maxPollDelayMs] = [5_000, 1_000, 60_000]
/** Four times the lifetime of a login. The limit also works if a system clock is wrong. */
const maxLoginMs = 3_600_000

/**
 * Converts the poll interval of the Manager from seconds to milliseconds. Returns `fallbackMs` if the
 * interval is missing.
 */
export function toPollDelayMs(interval: unknown, fallbackMs: number): number {
  if (typeof interval !== 'number' || Number.isNaN(interval)) return fallbackMs
  // Node replaces a delay above 2^31 ms with 1 ms.
  return Math.min(Math.max(interval * 1_000, minPollDelayMs), maxPollDelayMs)
}

/**
 * Returns the interval of the next poll. After a failed poll, the delay doubles and is at least Retry-After.
 */
function getNextInterval(result: PollResult, waitMs: number): unknown {
  if (result.status === 'unknown') return Math.max(waitMs * 2, result.retryAfterMs) / 1_000
  return 'interval' in result ? result.interval : null
}

const createLoginFailure = (status: 'denied' | 'expired'): Failure =>
  new Failure(
    'failed',
    status === 'denied'
      ? 'The login was denied in the browser.'
      : 'The login has expired or was removed by the Manager. Run svc login again.',
  )

const transientStatuses = new Set([408, 425, 429, 502, 503, 504])
type PollResult = CliLoginStatus | { status: 'unknown'; retryAfterMs: number }

/** Polls once without retries, because the client would retry before the poll delay has passed. */
async function poll({ signal }: Terminal, connection: Connection, login: CliLogin): Promise<PollResult> {
  try {
    return await pollCliLogin({ ...connection, maxRetries: 0 }, login, { signal })
  } catch (error) {
    // The Manager deletes expired logins. If an address starts too many logins, the Manager also deletes the oldest of
    // them.
    if (error instanceof ResponseError && error.status === 404) return { status: 'expired' }
    const isTransient =
      error instanceof ConnectionError ||
      (error instanceof ResponseError && transientStatuses.has(error.status))
    if (!isTransient || Date.parse(login.expiresAt) < Date.now()) throw error
    return { status: 'unknown', retryAfterMs: error instanceof ResponseError ? (error.retryAfterMs ?? 0) : 0 }
  }
}
