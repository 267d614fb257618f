// Remembers which secrets fit which stored hashes, so that the slow hash runs once per secret and process. A memory is
// good only for the very hash it was made with, which the caller reads from the database at every request: a rotated or
// revoked credential is refused although its secret is remembered. Secrets themselves are never kept, only their HMAC
// under a key that lives as long as the process.
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Metrics } from '../metrics.ts'
import { createSingleFlight } from '../single-flight.ts'
import type { Kdf, KdfAccount } from './kdf.ts'

/** A secret as it was presented, with the name under which it is remembered. Costs one HMAC to make. */
export type PresentedSecret = { text: string; print: string }

export type Verifier = {
  /** `context` keeps equal secrets of different accounts apart. */
  present(text: string, context?: string): PresentedSecret
  /** True when the secret fitted some hash before. */
  isKnown(secret: PresentedSecret): boolean
  /** True when the secret fits the hash; runs the KDF unless the answer is remembered or being found out. */
  verify(secret: PresentedSecret, stored: string, account: KdfAccount): Promise<boolean>
  /** Takes as long as verify takes, and answers false: for credentials that do not exist. */
  pretend(secret: PresentedSecret, account: KdfAccount): Promise<false>
}

const maxRefused = 10_000
const refusedTtlMs = 60_000
// Of the stored form, but nobody knows a secret for it.
const nobodysHash = `$pbkdf2-sha256$i=600000$${randomBytes(16).toString('base64url')}$${randomBytes(32).toString('base64url')}`

/** One per process, shared by every kind of credential that is stored as a slow hash. */
export function createVerifier(kdf: Kdf, metrics: Metrics, maxVerified: number): Verifier {
  // As a key object: node takes five times as long over a buffer.
  const key = createSecretKey(randomBytes(32))
  const verified = new LRUCache<string, string>({ max: maxVerified })
  const refused = new LRUCache<string, string>({ max: maxRefused, ttl: refusedTtlMs })
  const once = createSingleFlight<boolean>()

  const run = async (secret: PresentedSecret, stored: string, account: KdfAccount): Promise<boolean> => {
    const fits = await kdf.verify(secret.text, stored, account)
    if (fits) verified.set(secret.print, stored)
    else refused.set(secret.print, stored)
    return fits
  }
  const verify: Verifier['verify'] = async (secret, stored, account) => {
    const isVerified = verified.get(secret.print) === stored
    const isRefused = !isVerified && refused.get(secret.print) === stored
    metrics.authCache.inc({ outcome: isVerified ? 'hit' : isRefused ? 'refused' : 'miss' })
    if (isVerified || isRefused) return isVerified
    // Who asks while the same secret is being hashed waits for that answer.
    return once(`${secret.print}${stored}`, () => run(secret, stored, account))
  }
  return {
    present: (text, context = '') => ({
      text,
      print: createHmac('sha256', key).update(`${context}\0${text}`).digest('base64'),
    }),
    isKnown: (secret) => verified.has(secret.print),
    verify,
    pretend: async (secret, account) => {
      await verify(secret, nobodysHash, account)
      return false
    },
  }
}
