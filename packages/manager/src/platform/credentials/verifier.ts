// Caches which secrets fit which stored hashes, so that the slow hash runs once per secret and process. An entry is
// valid only for the hash it was made with, which the caller reads from the database at every request: a rotated or
// revoked credential is refused although its secret is cached. Secrets themselves are never kept, only their HMAC
// under a key that lives as long as the process.
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { createLru } from '../cache/lru.ts'
import type { Metrics } from '../metrics.ts'
import { createSingleFlight } from '../cache/single-flight.ts'
import type { Kdf, KdfAccount } from './kdf.ts'

/** A secret as it was presented, with the fingerprint under which it is cached. Costs one HMAC to make. */
export type PresentedSecret = { text: string; fingerprint: string }

export type Verifier = {
  /** `context` keeps equal secrets of different accounts apart. */
  present(text: string, context?: string): PresentedSecret
  /** True when the secret fitted some hash before. */
  isKnown(secret: PresentedSecret): boolean
  /** True when the secret fits the hash; runs the KDF unless the result is cached or in flight. */
  verify(secret: PresentedSecret, stored: string, account: KdfAccount | 'in turn'): Promise<boolean>
  /** Takes as long as verify takes, and returns false: for credentials that do not exist. */
  pretend(secret: PresentedSecret, account: KdfAccount | 'in turn'): Promise<false>
}

const maxRefused = 10_000
const refusedTtlMs = 60_000

/** One per process, shared by every kind of credential that is stored as a slow hash. */
export function createVerifier(kdf: Kdf, metrics: Metrics, maxVerified: number): Verifier {
  // As a key object: node takes five times as long over a buffer.
  const key = createSecretKey(randomBytes(32))
  const verified = createLru<string>({ max: maxVerified })
  const refused = createLru<string>({ max: maxRefused, ttl: refusedTtlMs })
  const once = createSingleFlight<boolean>()

  const run = async (
    secret: PresentedSecret,
    stored: string,
    account: KdfAccount | 'in turn',
  ): Promise<boolean> => {
    const fits = await kdf.verify(secret.text, stored, account)
    if (fits) verified.set(secret.fingerprint, stored)
    else refused.set(secret.fingerprint, stored)
    return fits
  }
  const verify: Verifier['verify'] = async (secret, stored, account) => {
    const isVerified = verified.get(secret.fingerprint) === stored
    const isRefused = !isVerified && refused.get(secret.fingerprint) === stored
    metrics.authCache.inc({ outcome: isVerified ? 'hit' : isRefused ? 'refused' : 'miss' })
    if (isVerified || isRefused) return isVerified
    // A request while the same secret is being hashed waits for that result.
    return once(`${secret.fingerprint}${stored}`, () => run(secret, stored, account))
  }
  return {
    present: (text, context = '') => ({
      text,
      fingerprint: createHmac('sha256', key).update(`${context}\0${text}`).digest('base64'),
    }),
    isKnown: (secret) => verified.has(secret.fingerprint),
    verify,
    pretend: async (secret, account) => {
      await verify(secret, kdf.unknownHash, account)
      return false
    },
  }
}
