// The login of a command-line client: it shows a code, a person approves it in a browser, and the token comes sealed.
import type { Connection } from './connection.ts'
import type { PollCliLoginAnswer, StartCliLoginAnswer } from './generated/rest.ts'
import { type CamelCase, type Plain, toCamelCase } from './names.ts'
import { type CallOptions, sendForJson } from './request.ts'

/** `sessionId` is a secret of the client; `verificationUri` and `userCode` are for the person; `interval` is in seconds. */
export type CliLogin = Plain<CamelCase<StartCliLoginAnswer>>
export type CliLoginStatus =
  | { status: 'authorization_pending' | 'slow_down'; interval: number }
  | { status: 'denied' | 'expired' }
  /** The token, sealed to the public key; it is given once. */
  | { status: 'approved'; sealedToken: string; tokenName: string; expiresAt: string }

/** Begins a login; `publicKey` is the base64 of an X25519 key that is made for it. */
export async function startCliLogin(
  connection: Connection,
  { publicKey, tokenName }: { publicKey: string; tokenName: string },
  { signal }: CallOptions = {},
): Promise<CliLogin> {
  const json = { public_key: publicKey, token_name: tokenName }
  const path = '/api/cli/login/start'
  // A login that nobody approves ends by itself.
  const request = { method: 'POST', path, json, signal, isRepeatable: true }
  return toCamelCase(await sendForJson<StartCliLoginAnswer>(connection, request))
}

/** Asks once how a login stands; wait `interval` seconds before the next time. */
export async function pollCliLogin(
  connection: Connection,
  { sessionId }: { sessionId: string },
  { signal }: CallOptions = {},
): Promise<CliLoginStatus> {
  const json = { session_id: sessionId }
  const path = '/api/cli/login/poll'
  const request = { method: 'POST', path, json, signal, isRepeatable: true }
  const answer = await sendForJson<PollCliLoginAnswer>(connection, request)
  return 'status' in answer ? answer : { status: 'approved', ...toCamelCase(answer) }
}
