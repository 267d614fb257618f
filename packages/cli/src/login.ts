// The login of a terminal: a key pair in memory, a code to compare, and a token that is sealed to the key.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, ConnectionError, ResponseError, sendForJson } from '@manager/client'
import { Failure } from './failures.ts'
import { printable } from './printable.ts'
import type { World } from './world.ts'

type Started = { session_id: string; verification_uri: string; user_code: string; interval: number; expires_at: string }
type Polled = {
  status?: 'authorization_pending' | 'slow_down' | 'denied' | 'expired'
  interval?: number
  sealed_token?: string
  expires_at?: string | null
}
export type Obtained = { token: string; expiresAt: string | null }

/** Lets the person approve this terminal in a browser; answers the token that they approved. */
export async function obtainToken(world: World, connection: Connection, tokenName: string): Promise<Obtained> {
  // The library takes a moment to load, and other commands do without it.
  const { default: sodium } = await import('libsodium-wrappers')
  await sodium.ready
  const { publicKey, privateKey } = sodium.crypto_box_keypair()
  const key = Buffer.from(publicKey).toString('base64')
  const started = await sendForJson<Started>(connection, {
    method: 'POST',
    path: '/api/cli/login/start',
    json: { public_key: key, token_name: tokenName },
    signal: world.signal,
  })
  world.stderr.write(invitation(started, createHash('sha256').update(publicKey).digest('hex').slice(0, 16)))
  const { sealed_token: sealed = '', expires_at: expiresAt = null } = await untilDecided(world, connection, started)
  const opened = sodium.crypto_box_seal_open(Buffer.from(sealed, 'base64'), publicKey, privateKey)
  return { token: Buffer.from(opened).toString(), expiresAt }
}

const invitation = ({ verification_uri: address, user_code: code, expires_at: end }: Started, fingerprint: string) =>
  `Open this address in a browser, and compare the code:

  address  ${printable(address)}
  code     ${printable(code)}
  key      ${fingerprint.replace(/.{4}(?=.)/g, '$& ')}

Approve only what you started yourself. Waiting until ${printable(end)}; Ctrl-C ends it.
`

/** Polls as often as the Manager says, until somebody has decided. */
async function untilDecided(world: World, connection: Connection, started: Started): Promise<Polled> {
  let intervalMs = started.interval * 1_000
  for (;;) {
    const polled = await poll(world, connection, started)
    if (polled.sealed_token !== undefined) return polled
    if (polled.status === 'denied') throw new Failure('failed', 'The login was denied in the browser.')
    if (polled.status === 'expired')
      throw new Failure('failed', 'The login has expired, or its token was fetched before. Run svc login again.')
    intervalMs = polled.interval === undefined ? intervalMs + 5_000 : polled.interval * 1_000
    await sleep(intervalMs, undefined, { signal: world.signal })
  }
}

/** What became of the login; a connection that breaks is no answer, and the next poll comes later. */
async function poll({ signal }: World, connection: Connection, { session_id, expires_at }: Started): Promise<Polled> {
  try {
    const request = { method: 'POST', path: '/api/cli/login/poll', json: { session_id }, signal } as const
    return await sendForJson<Polled>(connection, request)
  } catch (error) {
    const isPassing = error instanceof ConnectionError || (error instanceof ResponseError && [429, 503].includes(error.status))
    if (!isPassing || Date.parse(expires_at) < Date.now()) throw error
    return {}
  }
}
