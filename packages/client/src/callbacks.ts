// Callbacks are signed according to Standard Webhooks and also carry the callback token. The signing secret is separate
// and is never sent with a callback.
import { CallbackError } from './errors.ts'

export type IncomingCallback = {
  /** Headers as Node or the Fetch API provides them. */
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>
  /** The raw bytes or their text. JSON that was parsed and serialized again fails verification. */
  body: string | Uint8Array | ArrayBuffer
}
/** The content of a trigger callback. */
export type Callback = {
  /** The run id. It is the same in every attempt; use it to do the work only once. */
  id: string
  attempt: number
  /** The planned time of the run. */
  scheduledAt: string
  triggerId: string
  triggerName: string
  cronExpression: string
  runKey: string
  /** The start of the first attempt. */
  executedAt: string
}

/** The keys that a registration returns. Older Managers return no signing secret and sign with the token. */
export type CallbackKeys = { token: string; signingSecret?: string | undefined }

const maxBytes = 64 * 1024
const maxAgeMs = 300_000
const unauthorized = (message: string): CallbackError => new CallbackError(message, { status: 401 })

/**
 * Returns the callback if it carries one of the tokens and was signed with the matching secret within the last 5
 * minutes. Otherwise throws a CallbackError. A token without a secret is expected to be the signing key itself.
 */
export async function verifyCallback(
  keys: readonly (string | CallbackKeys)[],
  incoming: IncomingCallback,
  { nowMs = Date.now() }: { nowMs?: number } = {},
): Promise<Callback> {
  const header = readerOf(incoming.headers)
  const body = bytesOf(incoming.body)
  if (body.length > maxBytes)
    throw new CallbackError(`the callback exceeds ${maxBytes} bytes`, { status: 413 })
  const [id, sentAt] = [header('webhook-id'), header('webhook-timestamp')]
  if (!/^\d{1,12}$/.test(sentAt) || Math.abs(nowMs - Number(sentAt) * 1_000) > maxAgeMs)
    throw unauthorized(
      'the callback timestamp is missing or differs from the current time by more than five minutes; if the Manager sent it, check the clock',
    )
  const signed = concat(new TextEncoder().encode(`${id}.${sentAt}.`), body)
  const signatures = header('webhook-signature').split(' ', 5)
  for (const key of keys) {
    const { token, signingSecret = token }: CallbackKeys = typeof key === 'string' ? { token: key } : key
    if ((await isSigned(signingSecret, signed, signatures)) && header('authorization') === `Bearer ${token}`)
      return callbackOf(header, body)
  }
  throw unauthorized('the callback is not signed with the signing secret of the registration')
}

/** Returns the token that a caller presents. A registration uses it to detect valid calls with unknown keys. */
export const bearerOf = ({ headers }: IncomingCallback): string =>
  readerOf(headers)('authorization').slice('Bearer '.length)

async function isSigned(
  whsec: string,
  signed: Uint8Array<ArrayBuffer>,
  signatures: readonly string[],
): Promise<boolean> {
  const secret = decodeBase64(whsec.startsWith('whsec_') ? whsec.slice('whsec_'.length) : '')
  if (secret === null || secret.length === 0) return false
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ])
  for (const signature of signatures) {
    const mac = signature.startsWith('v1,') ? decodeBase64(signature.slice('v1,'.length)) : null
    // The platform compares in constant time.
    if (mac !== null && (await crypto.subtle.verify('HMAC', key, mac, signed))) return true
  }
  return false
}

function callbackOf(header: (name: string) => string, body: Uint8Array): Callback {
  const fields = JSON.parse(new TextDecoder().decode(body)) as Record<string, string>
  return {
    id: header('webhook-id'),
    attempt: Number(header('x-svc-attempt')),
    scheduledAt: header('x-svc-scheduled-at'),
    triggerId: fields['trigger_id'] ?? '',
    triggerName: fields['trigger_name'] ?? '',
    cronExpression: fields['cron_expression'] ?? '',
    runKey: fields['run_key'] ?? '',
    executedAt: fields['executed_at'] ?? '',
  }
}

const readerOf =
  (headers: IncomingCallback['headers']) =>
  (name: string): string => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    return typeof value === 'string' ? value : ''
  }

function bytesOf(body: IncomingCallback['body']): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  return body instanceof Uint8Array ? body : new Uint8Array(body)
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}
