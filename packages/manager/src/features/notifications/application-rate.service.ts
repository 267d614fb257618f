// Limits the rate per application. The caller supplies the application id, so an id gets its own counter only
// after it is verified to belong to the project. All other ids share one counter per project. Invented ids
// therefore neither raise the limit nor create counters.
import { LRUCache } from 'lru-cache'
import type { RateLimit } from '../../platform/throttle/rate-limit.ts'
import type { CommsState, CommsTarget } from './comms-state.store.ts'
import { createRateExceededError } from './refusals.pure.ts'

export type ApplicationRateDeps = {
  limit: RateLimit
  readState: (target: CommsTarget) => Promise<CommsState | null>
}
/** Counts one call. Throws 429 if the limit is exceeded. */
export type CheckRate = (target: CommsTarget) => Promise<void>

// Entries never become stale, because applications cannot move to a different project. An evicted id costs
// one coalesced lookup.
const maxVerifiedNames = 10_000

export function createApplicationRate({ limit, readState }: ApplicationRateDeps): CheckRate {
  const verifiedNames = new LRUCache<string, true>({ max: maxVerifiedNames })
  const isVerified = async (name: string, target: CommsTarget): Promise<boolean> => {
    if (verifiedNames.has(name)) return true
    const state = await readState(target)
    if (state !== 'on' && state !== 'off') return false
    verifiedNames.set(name, true)
    return true
  }
  return async (target) => {
    const counterName = `${target.projectId}:${target.applicationId}`
    const waitMs = await limit(
      (await isVerified(counterName, target)) ? counterName : `${target.projectId}:unverified`,
    )
    if (waitMs > 0) throw createRateExceededError(waitMs)
  }
}
