// Verifies callbacks. They are signed according to Standard Webhooks and also contain the callback token. The
// signing secret is separate and is never sent with a callback.
import { CallbackError } from './errors.ts'

export type IncomingCallback = {
  /** Headers as Node or the Fetch API provides them. */
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>
  /**
   * The raw bytes, or their text. Do not parse and serialize the JSON again, because verification would fail.
   */
  body: string | Uint8Array | ArrayBuffer
}
/** The content of a trigger callback. */
export type Callback = {
  /** The run id, which is the same in every attempt. Use it to do the work only once. */
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
const createUnauthorizedError = (message: string): CallbackError =>
  new CallbackError(message, { status: 401 })

/**
 * Returns the callback if it contains one of the tokens and was signed with the matching secret within the
 * last 5 minutes. Otherwise throws a CallbackError. If a token has no secret, the token is the signing key.
 */
export async function verifyCallback(
  keys: readonly (string | CallbackKeys)[],
  incoming: IncomingCallback,
  { nowMs = Date.now() }: { nowMs?: number } = {},
): Promise<Callback> {
  const readHeader = createHeaderReader(incoming.headers)
  const body = toBytes(incoming.body)
  if (body.length > maxBytes)
    throw new CallbackError(`the callback exceeds ${maxBytes} bytes`, { status: 413 })
  const [id, sentAt] = [readHeader('webhook-id'), readHeader('webhook-timestamp')]
  if (!/^\d{1,12}$/.test(sentAt) || Math.abs(nowMs - Number(sentAt) * 1_000) > maxAgeMs)
    throw createUnauthorizedError(
      'the callback timestamp is missing or differs from the current time by more than five minutes; if the Manager sent the callback, check the clock',
    )
  const signedBytes = concat(new TextEncoder().encode(`${id}.${sentAt}.`), body)
  const signatures = readHeader('webhook-signature').split(' ', 5)
  for (const key of keys) {
    const { token, signingSecret = token }: CallbackKeys = typeof key === 'string' ? { token: key } : key
    if (
      (await isSigned(signingSecret, signedBytes, signatures)) &&
      readHeader('authorization') === `Bearer ${token}`
    )
      return parseCallback(readHeader, body)
  }
  throw createUnauthorizedError('the callback is not signed with the signing secret of the registration')
}

/** Returns the bearer token of a callback. It shows whether a call with unknown keys is valid. */
export const getBearerToken = ({ headers }: IncomingCallback): string =>
  createHeaderReader(headers)('authorization').slice('Bearer '.length)

async function isSigned(
  whsec: string,
  signedBytes: Uint8Array<ArrayBuffer>,
  signatures: readonly string[],
): Promise<boolean> {
  const secret = decodeBase64(whsec.startsWith('whsec_') ? whsec.slice('whsec_'.length) : '')
  if (secret === null || secret.length === 0) return false
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ])
  for (const signature of signatures) {
    const mac = signature.startsWith('v1,') ? decodeBase64(signature.slice('v1,'.length)) : null
    // `verify` compares in constant time.
    if (mac !== null && (await crypto.subtle.verify('HMAC', key, mac, signedBytes))) return true
  }
  return false
}

function parseCallback(readHeader: (name: string) => string, body: Uint8Array): Callback {
  const fields = JSON.parse(new TextDecoder().decode(body)) as Record<string, string>
  return {
    id: readHeader('webhook-id'),
    attempt: Number(readHeader('x-svc-attempt')),
    scheduledAt: readHeader('x-svc-scheduled-at'),
    triggerId: fields['trigger_id'] ?? '',
    triggerName: fields['trigger_name'] ?? '',
    cronExpression: fields['cron_expression'] ?? '',
    runKey: fields['run_key'] ?? '',
    executedAt: fields['executed_at'] ?? '',
  }
}

const createHeaderReader =
  (headers: IncomingCallback['headers']) =>
  (name: string): string => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    return typeof value === 'string' ? value : ''
  }

function toBytes(body: IncomingCallback['body']): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  return body instanceof Uint8Array ? body : new Uint8Array(body)
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const combined = new Uint8Array(first.length + second.length)
  combined.set(first)
  combined.set(second, first.length)
  return combined
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}
