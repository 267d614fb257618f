// Signatures of callbacks, as Standard Webhooks writes them: the receiver verifies with any library of it, and knows that
// the body is ours and recent.
import { createHmac, randomBytes } from 'node:crypto'

export type WebhookMessage = {
  /** Stays the same when the message is sent again. It has no dot, which separates what is signed. */
  id: string
  timestampSeconds: number
  /** The bytes that are sent. */
  body: Buffer
  /** The key: a signing secret or a callback token. */
  token: string
}

const prefix = 'whsec_'
const keyBytes = 32

/** A new key, as the receiver writes it into their configuration. */
export const createWebhookSecret = (): string => prefix + randomBytes(keyBytes).toString('base64')

/** One value of `webhook-signature`; throws, without naming the token, when it is not one of ours. */
export function signWebhook({ id, timestampSeconds, body, token }: WebhookMessage): string {
  const mac = createHmac('sha256', keyOf(token)).update(`${id}.${timestampSeconds}.`).update(body)
  return `v1,${mac.digest('base64')}`
}

function keyOf(token: string): Buffer {
  const key = Buffer.from(token.slice(prefix.length), 'base64')
  // Written back, because the decoder passes over what is not base64.
  if (key.length !== keyBytes || prefix + key.toString('base64') !== token)
    throw new Error('this is no token for callbacks')
  return key
}
