// What every feature that proves credentials shares: one pool that hashes, one memory of what fits, and the throttles.
import { availableParallelism } from 'node:os'
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Redis } from '../redis.ts'
import type { ThrottleLimits } from '../failure-window.ts'
import { type Throttle, createThrottle } from '../throttle.ts'
import { type Kdf, createKdf } from './kdf.ts'
import { type Verifier, createVerifier } from './verifier.ts'

type ThrottleName = 'validate' | 'basic' | 'machine' | 'forgery'

export type CredentialParts = {
  kdf: Kdf
  verifier: Verifier
  throttles: Record<ThrottleName, Throttle>
  close(): Promise<void>
}

export type CredentialOptions = {
  threads: number | undefined
  maxQueue: number
  maxRemembered: number
  limits: Record<ThrottleName, ThrottleLimits>
}

/** One of each per process. */
export function createCredentialParts(
  options: CredentialOptions,
  outside: { redis: Redis; clock: Clock; metrics: Metrics; log: Logger },
): CredentialParts {
  const { maxQueue, limits } = options
  const threads = options.threads ?? Math.max(1, availableParallelism() - 1)
  const kdf = createKdf({ threads, maxQueue, metrics: outside.metrics })
  const throttles = {
    validate: createThrottle('validate', limits.validate, outside),
    basic: createThrottle('basic', limits.basic, outside),
    machine: createThrottle('machine', limits.machine, outside),
    forgery: createThrottle('forgery', limits.forgery, outside),
  }
  return {
    kdf,
    verifier: createVerifier(kdf, outside.metrics, options.maxRemembered),
    throttles,
    close: async () => {
      for (const throttle of Object.values(throttles)) await throttle.close()
      await kdf.close()
    },
  }
}
