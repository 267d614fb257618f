// Signs callbacks according to Standard Webhooks. With any Standard Webhooks library, receivers can verify that the
// body is authentic and recent.
import { createHmac, randomBytes } from 'node:crypto'

/** A callback to sign. */
export type WebhookMessage = {
  /** Does not change when the message is resent. Must not contain a dot, the separator of the signed parts. */
  id: string
  timestampSeconds: number
  /** The exact bytes of the request body. */
  body: Buffer
  /** The key: a signing secret or a callback token. */
  token: string
}

const secretPrefix = 'whsec_'
const keyBytes = 32

/** Returns a new key in the format that receivers configure. */
export const createWebhookSecret = (): string => secretPrefix + randomBytes(keyBytes).toString('base64')

/** Returns one value of the `webhook-signature` header; throws if the token is invalid, without including the token. */
export function signWebhook({ id, timestampSeconds, body, token }: WebhookMessage): string {
  const mac = createHmac('sha256', parseKey(token)).update(`${id}.${timestampSeconds}.`).update(body)
  return `v1,${mac.digest('base64')}`
}

function parseKey(token: string): Buffer {
  const key = Buffer.from(token.slice(secretPrefix.length), 'base64')
  // The key is encoded again for comparison, because the decoder ignores invalid base64 characters.
  if (key.length !== keyBytes || secretPrefix + key.toString('base64') !== token)
    throw new Error('the callback token is invalid')
  return key
}
