// Callbacks are signed by Standard Webhooks, and carry the callback token besides. The secret that signs is another one, which
// does not travel.
import { CallbackError } from './errors.ts'

export type IncomingCallback = {
  /** As Node or the platform gives them. */
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>
  /** The bytes as they came, or their text: not JSON that was parsed and written again. */
  body: string | Uint8Array | ArrayBuffer
}
/** What a trigger calls a backend with. */
export type Callback = {
  /** The run: the same in every attempt, so that work is done once. */
  id: string
  attempt: number
  /** The planned instant. */
  scheduledAt: string
  triggerId: string
  triggerName: string
  cronExpression: string
  runKey: string
  /** When the first attempt began. */
  executedAt: string
}

/** What a registration returned. A Manager of an older release returns no signing secret, and signs with the token. */
export type CallbackKeys = { token: string; signingSecret?: string | undefined }

const maxBytes = 64 * 1024
const maxAgeMs = 300_000
const refused = (message: string): CallbackError => new CallbackError(message, { status: 401 })

/**
 * The callback, when it carries one of the tokens and the secret beside that token signed it within the last five minutes;
 * throws a CallbackError. A token by itself, without a secret, is expected to have signed.
 */
export async function verifyCallback(
  keys: readonly (string | CallbackKeys)[],
  incoming: IncomingCallback,
  { nowMs = Date.now() }: { nowMs?: number } = {},
): Promise<Callback> {
  const header = readerOf(incoming.headers)
  const body = bytesOf(incoming.body)
  if (body.length > maxBytes)
    throw new CallbackError(`the callback is over ${maxBytes} bytes`, { status: 413 })
  const [id, sentAt] = [header('webhook-id'), header('webhook-timestamp')]
  if (!/^\d{1,12}$/.test(sentAt) || Math.abs(nowMs - Number(sentAt) * 1_000) > maxAgeMs)
    throw refused(
      'the callback is not of the last five minutes; check the clock if it is the Manager that called',
    )
  const signed = concat(new TextEncoder().encode(`${id}.${sentAt}.`), body)
  const signatures = header('webhook-signature').split(' ', 5)
  for (const key of keys) {
    const { token, signingSecret = token }: CallbackKeys = typeof key === 'string' ? { token: key } : key
    if ((await isSigned(signingSecret, signed, signatures)) && header('authorization') === `Bearer ${token}`)
      return callbackOf(header, body)
  }
  throw refused('the callback is not signed with the signing secret of the registration')
}

/** The token that an unknown caller names; a registration asks with it whether a call is in order but of another token. */
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
