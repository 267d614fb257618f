// Caches which secrets match which stored hashes, so that the slow hash runs once per secret and process. An entry is
// valid only for the hash it was created with, which the caller reads from the database on every request. A rotated or
// revoked credential is thus rejected even if its secret is cached. Secrets themselves are never stored, only their
// HMAC under a key that is discarded when the process exits.
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { createLru } from '../cache/lru.ts'
import type { Metrics } from '../metrics.ts'
import { createSingleFlight } from '../cache/single-flight.ts'
import type { Kdf, KdfAccount } from './kdf.ts'

/** A presented secret with the fingerprint under which it is cached. Creating it costs one HMAC. */
export type PresentedSecret = { text: string; fingerprint: string }

/** Verifies secrets against slow hashes, and caches the results. */
export type Verifier = {
  /** `context` keeps equal secrets of different accounts apart. */
  present(text: string, context?: string): PresentedSecret
  /** Whether the secret has matched a hash before. */
  isKnown(secret: PresentedSecret): boolean
  /** Whether the secret matches the hash; runs the KDF unless the result is cached or in flight. */
  verify(secret: PresentedSecret, storedHash: string, account: KdfAccount | 'inTurn'): Promise<boolean>
  /** Takes as long as `verify` and returns false. Call it for credentials that do not exist. */
  verifyUnknown(secret: PresentedSecret, account: KdfAccount | 'inTurn'): Promise<false>
}

const maxRejected = 10_000
const rejectedTtlMs = 60_000

/** Creates the verifier: one per process, shared by every kind of credential that is stored as a slow hash. */
export function createVerifier(kdf: Kdf, metrics: Metrics, maxVerified: number): Verifier {
  // An HMAC with a Buffer key takes five times as long as with a key object.
  const key = createSecretKey(randomBytes(32))
  const verifiedSecrets = createLru<string>({ max: maxVerified })
  const rejectedSecrets = createLru<string>({ max: maxRejected, ttl: rejectedTtlMs })
  const runOnce = createSingleFlight<boolean>()

  const runKdf = async (
    secret: PresentedSecret,
    storedHash: string,
    account: KdfAccount | 'inTurn',
  ): Promise<boolean> => {
    const isMatch = await kdf.verify(secret.text, storedHash, account)
    if (isMatch) verifiedSecrets.set(secret.fingerprint, storedHash)
    else rejectedSecrets.set(secret.fingerprint, storedHash)
    return isMatch
  }
  const verify: Verifier['verify'] = async (secret, stored, account) => {
    const isVerified = verifiedSecrets.get(secret.fingerprint) === stored
    const isRejected = !isVerified && rejectedSecrets.get(secret.fingerprint) === stored
    metrics.authCache.inc({ outcome: isVerified ? 'hit' : isRejected ? 'refused' : 'miss' })
    if (isVerified || isRejected) return isVerified
    // A request that arrives while the same secret is being hashed waits for that result.
    return runOnce(`${secret.fingerprint}${stored}`, () => runKdf(secret, stored, account))
  }
  return {
    present: (text, context = '') => ({
      text,
      fingerprint: createHmac('sha256', key).update(`${context}\0${text}`).digest('base64'),
    }),
    isKnown: (secret) => verifiedSecrets.has(secret.fingerprint),
    verify,
    verifyUnknown: async (secret, account) => {
      await verify(secret, kdf.unknownHash, account)
      return false
    },
  }
}
