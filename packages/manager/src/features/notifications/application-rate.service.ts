// How often an application may emit or publish. Callers name the application themselves: it is counted by its id only once
// it is known to be one of their project's. All calls that name another id share one count of the project, so that inventing
// ids gives no more calls and fills no counters.
import { LRUCache } from 'lru-cache'
import type { RateLimit } from '../../platform/throttle/rate-limit.ts'
import type { CommsPlace, CommsState } from './comms-state.store.ts'
import { rateExceeded } from './refusals.pure.ts'

export type ApplicationRateDeps = {
  limit: RateLimit
  readState: (place: CommsPlace) => Promise<CommsState | null>
}
/** Counts one use of a place; throws 429 when there is none left. */
export type CheckRate = (place: CommsPlace) => Promise<void>

// An application never moves to another project. An id that was forgotten costs one coalesced lookup.
const maxVerified = 10_000

export function createApplicationRate({ limit, readState }: ApplicationRateDeps): CheckRate {
  const verified = new LRUCache<string, true>({ max: maxVerified })
  const isVerified = async (name: string, place: CommsPlace): Promise<boolean> => {
    if (verified.has(name)) return true
    const state = await readState(place)
    if (state !== 'on' && state !== 'off') return false
    verified.set(name, true)
    return true
  }
  return async (place) => {
    const own = `${place.projectId}:${place.applicationId}`
    const waitMs = await limit((await isVerified(own, place)) ? own : `${place.projectId}:unverified`)
    if (waitMs > 0) throw rateExceeded(waitMs)
  }
}
