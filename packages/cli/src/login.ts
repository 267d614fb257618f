// The login of a terminal: a key pair in memory, a code to compare, and a token that is sealed to the key.
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
import type { World } from './world.ts'

type Approved = Extract<CliLoginStatus, { status: 'approved' }>
export type Obtained = { token: string; expiresAt: string }

/** Lets the person approve this terminal in a browser; answers the token that they approved. */
export async function obtainToken(
  world: World,
  connection: Connection,
  tokenName: string,
): Promise<Obtained> {
  // The library takes a moment to load, and other commands do without it.
  const { default: sodium } = await import('libsodium-wrappers')
  await sodium.ready
  const { publicKey, privateKey } = sodium.crypto_box_keypair()
  const asked = { publicKey: Buffer.from(publicKey).toString('base64'), tokenName }
  const login = await startCliLogin(connection, asked, { signal: world.signal })
  world.stderr.write(invitation(login, createHash('sha256').update(publicKey).digest('hex').slice(0, 16)))
  const { sealedToken, expiresAt } = await untilDecided(world, connection, login)
  const opened = sodium.crypto_box_seal_open(Buffer.from(sealedToken, 'base64'), publicKey, privateKey)
  return { token: Buffer.from(opened).toString(), expiresAt }
}

const invitation = ({ verificationUri, userCode, expiresAt }: CliLogin, fingerprint: string): string =>
  `Open this address in a browser, and compare the code:

  address  ${printable(verificationUri)}
  code     ${printable(userCode)}
  key      ${fingerprint.replace(/.{4}(?=.)/g, '$& ')}

Approve only what you started yourself. Waiting until ${printable(expiresAt)}; Ctrl-C ends it.
`

/** Polls as often as the Manager says, within bounds, until somebody has decided. */
async function untilDecided(world: World, connection: Connection, login: CliLogin): Promise<Approved> {
  const untilMs = performance.now() + maxLoginMs
  let waitMs = pollDelayMs(login.interval, defaultPollDelayMs)
  while (performance.now() < untilMs) {
    const polled = await poll(world, connection, login)
    if (polled.status === 'approved') return polled
    if (polled.status === 'denied' || polled.status === 'expired') throw endOf(polled.status)
    waitMs = pollDelayMs(intervalOf(polled, waitMs), waitMs)
    await sleep(waitMs, undefined, { signal: world.signal })
  }
  throw endOf('expired')
}

const [defaultPollDelayMs, minPollDelayMs, maxPollDelayMs] = [5_000, 1_000, 60_000]
/** Four times as long as a login lives, whatever the clocks say. */
const maxLoginMs = 3_600_000

/** The time between two polls, of the seconds that the Manager names, or `otherwise` where it names none. */
export function pollDelayMs(interval: unknown, otherwise: number): number {
  if (typeof interval !== 'number' || Number.isNaN(interval)) return otherwise
  // Node waits 1 ms instead of more than 2^31 ms.
  return Math.min(Math.max(interval * 1_000, minPollDelayMs), maxPollDelayMs)
}

/** Without a response the next poll is sent later. */
function intervalOf(polled: Polled, waitMs: number): unknown {
  if (polled.status === 'unknown') return Math.max(waitMs * 2, polled.retryAfterMs) / 1_000
  return 'interval' in polled ? polled.interval : null
}

const endOf = (status: 'denied' | 'expired'): Failure =>
  new Failure(
    'failed',
    status === 'denied'
      ? 'The login was denied in the browser.'
      : 'The login has expired, or the Manager has dropped it. Run svc login again.',
  )

const passing = new Set([408, 425, 429, 502, 503, 504])
type Polled = CliLoginStatus | { status: 'unknown'; retryAfterMs: number }

/** How the login stands. It is asked once: a retry of the client would not wait as long as polls do. */
async function poll({ signal }: World, connection: Connection, login: CliLogin): Promise<Polled> {
  try {
    return await pollCliLogin({ ...connection, maxRetries: 0 }, login, { signal })
  } catch (error) {
    // Expired logins are deleted, and the oldest ones of an address when it starts too many.
    if (error instanceof ResponseError && error.status === 404) return { status: 'expired' }
    const isPassing =
      error instanceof ConnectionError || (error instanceof ResponseError && passing.has(error.status))
    if (!isPassing || Date.parse(login.expiresAt) < Date.now()) throw error
    return { status: 'unknown', retryAfterMs: error instanceof ResponseError ? (error.retryAfterMs ?? 0) : 0 }
  }
}
