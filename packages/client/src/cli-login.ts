// Login for a command-line client. The client shows a code, the user approves it in a browser, and the client
// receives a sealed token.
import type { Connection } from './connection.ts'
import type { PollCliLoginAnswer, StartCliLoginAnswer } from './generated/rest.ts'
import { type CamelCase, type Simplify, toCamelCase } from './names.ts'
import { type CallOptions, sendForJson } from './request.ts'

/** `sessionId` is secret. `verificationUri` and `userCode` are shown to the user. `interval` is in seconds. */
export type CliLogin = Simplify<CamelCase<StartCliLoginAnswer>>
export type CliLoginStatus =
  | { status: 'authorization_pending' | 'slow_down'; interval: number }
  | { status: 'denied' | 'expired' }
  /** The token, sealed to the public key. It is returned only once. */
  | { status: 'approved'; sealedToken: string; tokenName: string; expiresAt: string }

/** Starts a login. `publicKey` is a base64-encoded X25519 key that was generated for this login. */
export async function startCliLogin(
  connection: Connection,
  { publicKey, tokenName }: { publicKey: string; tokenName: string },
  { signal }: CallOptions = {},
): Promise<CliLogin> {
  const json = { public_key: publicKey, token_name: tokenName }
  const path = '/api/cli/login/start'
  // Repeating the request is harmless, because a login that is not approved expires.
  const request = { method: 'POST', path, json, signal, isRepeatable: true }
  return toCamelCase(await sendForJson<StartCliLoginAnswer>(connection, request))
}

/** Polls a login once. Wait `interval` seconds before the next poll. */
export async function pollCliLogin(
  connection: Connection,
  { sessionId }: { sessionId: string },
  { signal }: CallOptions = {},
): Promise<CliLoginStatus> {
  const json = { session_id: sessionId }
  const path = '/api/cli/login/poll'
  const request = { method: 'POST', path, json, signal, isRepeatable: true }
  const response = await sendForJson<PollCliLoginAnswer>(connection, request)
  return 'status' in response ? response : { status: 'approved', ...toCamelCase(response) }
}
