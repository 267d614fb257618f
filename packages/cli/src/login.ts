// Terminal login: a key pair in memory, a code that the user compares, and a token that is sealed to the public key.
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
import { Failure } from './failures.ts'
import { printable } from './printable.ts'
import type { Terminal } from './terminal.ts'

type Approved = Extract<CliLoginStatus, { status: 'approved' }>
export type Obtained = { token: string; expiresAt: string }

/** Lets the user approve this terminal in a browser, and returns the token. */
export async function obtainToken(
  terminal: Terminal,
  connection: Connection,
  tokenName: string,
): Promise<Obtained> {
  // Only login needs this library, and it is slow to load.
  const { default: sodium } = await import('libsodium-wrappers')
  await sodium.ready
  const { publicKey, privateKey } = sodium.crypto_box_keypair()
  const request = { publicKey: Buffer.from(publicKey).toString('base64'), tokenName }
  const login = await startCliLogin(connection, request, { signal: terminal.signal })
  terminal.stderr.write(loginPrompt(login, createHash('sha256').update(publicKey).digest('hex').slice(0, 16)))
  const { sealedToken, expiresAt } = await pollUntilDecided(terminal, connection, login)
  const opened = sodium.crypto_box_seal_open(Buffer.from(sealedToken, 'base64'), publicKey, privateKey)
  return { token: Buffer.from(opened).toString(), expiresAt }
}

const loginPrompt = ({ verificationUri, userCode, expiresAt }: CliLogin, fingerprint: string): string =>
  `Open this address in a browser, and compare the code:

  address  ${printable(verificationUri)}
  code     ${printable(userCode)}
  key      ${fingerprint.replace(/.{4}(?=.)/g, '$& ')}

Approve only a login that you started yourself. Waiting until ${printable(expiresAt)}; press Ctrl-C to cancel.
`

/** Polls at the interval that the Manager sets, within bounds. Throws if the login is denied or expires. */
async function pollUntilDecided(
  terminal: Terminal,
  connection: Connection,
  login: CliLogin,
): Promise<Approved> {
  const untilMs = performance.now() + maxLoginMs
  let waitMs = pollDelayMs(login.interval, defaultPollDelayMs)
  while (performance.now() < untilMs) {
    const polled = await poll(terminal, connection, login)
    if (polled.status === 'approved') return polled
    if (polled.status === 'denied' || polled.status === 'expired') throw failureOf(polled.status)
    waitMs = pollDelayMs(intervalOf(polled, waitMs), waitMs)
    await sleep(waitMs, undefined, { signal: terminal.signal })
  }
  throw failureOf('expired')
}

const [defaultPollDelayMs, minPollDelayMs, maxPollDelayMs] = [5_000, 1_000, 60_000]
/** Four times the lifetime of a login. This limit does not depend on the system clocks. */
const maxLoginMs = 3_600_000

/** Converts the interval of the Manager, in seconds, to a poll delay. Returns `fallbackMs` if there is none. */
export function pollDelayMs(interval: unknown, fallbackMs: number): number {
  if (typeof interval !== 'number' || Number.isNaN(interval)) return fallbackMs
  // Node replaces a delay above 2^31 ms with 1 ms.
  return Math.min(Math.max(interval * 1_000, minPollDelayMs), maxPollDelayMs)
}

/** After a failed poll, the delay doubles and is at least Retry-After. */
function intervalOf(polled: Polled, waitMs: number): unknown {
  if (polled.status === 'unknown') return Math.max(waitMs * 2, polled.retryAfterMs) / 1_000
  return 'interval' in polled ? polled.interval : null
}

const failureOf = (status: 'denied' | 'expired'): Failure =>
  new Failure(
    'failed',
    status === 'denied'
      ? 'The login was denied in the browser.'
      : 'The login has expired or was removed by the Manager. Run svc login again.',
  )

const transientStatuses = new Set([408, 425, 429, 502, 503, 504])
type Polled = CliLoginStatus | { status: 'unknown'; retryAfterMs: number }

/** Polls once. A retry by the client would not wait as long as the poll delay. */
async function poll({ signal }: Terminal, connection: Connection, login: CliLogin): Promise<Polled> {
  try {
    return await pollCliLogin({ ...connection, maxRetries: 0 }, login, { signal })
  } catch (error) {
    // The Manager deletes expired logins, and the oldest logins of an address that starts too many.
    if (error instanceof ResponseError && error.status === 404) return { status: 'expired' }
    const isTransient =
      error instanceof ConnectionError ||
      (error instanceof ResponseError && transientStatuses.has(error.status))
    if (!isTransient || Date.parse(login.expiresAt) < Date.now()) throw error
    return { status: 'unknown', retryAfterMs: error instanceof ResponseError ? (error.retryAfterMs ?? 0) : 0 }
  }
}
