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

/** Polls as often as the Manager says, until somebody has decided. */
async function untilDecided(world: World, connection: Connection, login: CliLogin): Promise<Approved> {
  let intervalMs = login.interval * 1_000
  for (;;) {
    const polled = await poll(world, connection, login)
    if (polled?.status === 'approved') return polled
    if (polled !== null && !('interval' in polled)) throw endOf(polled.status)
    // Where no answer came, the next poll comes later.
    intervalMs = polled === null ? intervalMs + 5_000 : polled.interval * 1_000
    await sleep(intervalMs, undefined, { signal: world.signal })
  }
}

const endOf = (status: 'denied' | 'expired'): Failure =>
  new Failure(
    'failed',
    status === 'denied'
      ? 'The login was denied in the browser.'
      : 'The login has expired. Run svc login again.',
  )

/** How the login stands; null when that is not known now. */
async function poll(
  { signal }: World,
  connection: Connection,
  login: CliLogin,
): Promise<CliLoginStatus | null> {
  try {
    return await pollCliLogin(connection, login, { signal })
  } catch (error) {
    const isPassing =
      error instanceof ConnectionError ||
      (error instanceof ResponseError && [429, 502, 503, 504].includes(error.status))
    if (!isPassing || Date.parse(login.expiresAt) < Date.now()) throw error
    return null
  }
}
