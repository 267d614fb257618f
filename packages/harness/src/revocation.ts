// Records the uses of credentials and checks that invalidated credentials are rejected immediately.
import { type SteadyCall, startSteady } from './steady.ts'

/** One call with a credential: when it was sent, when its response arrived, and whether it was accepted. */
export type Use = {
  credential: string
  startedAt: number
  answeredAt: number
  accepted: boolean
  /** The response status, if it was recorded. */
  status?: number
}

/** The times at which the invalidation of a credential was requested and confirmed. */
export type Invalidation = { requestedAt: number; confirmedAt: number }
type Invalidations = ReadonlyMap<string, Invalidation>

/**
 * Returns uses that started after the invalidation was confirmed. Callers must require at least one such use, because
 * a run without such uses tests nothing.
 */
export const findUsesAfterInvalidation = (uses: readonly Use[], invalidations: Invalidations): Use[] =>
  uses.filter(
    (use) => use.startedAt > (invalidations.get(use.credential)?.confirmedAt ?? Number.POSITIVE_INFINITY),
  )

/** Returns uses that were accepted although they started after the invalidation. The list must be empty. */
export const findAcceptedAfterInvalidation = (uses: readonly Use[], invalidations: Invalidations): Use[] =>
  findUsesAfterInvalidation(uses, invalidations).filter((use) => use.accepted)

/** Returns uses that were rejected before the invalidation was requested. The list must be empty. */
export const findRejectedBeforeInvalidation = (uses: readonly Use[], invalidations: Invalidations): Use[] =>
  uses.filter(
    (use) =>
      !use.accepted &&
      use.answeredAt < (invalidations.get(use.credential)?.requestedAt ?? Number.POSITIVE_INFINITY),
  )

export type Call = SteadyCall & {
  credential: string
  isAccepted: (status: number, body: string) => boolean
}

/** Sends calls at a steady rate and records each call. `next` returns the call to send. */
export function startUses(perSecond: number, next: () => Call, uses: Use[]): { stop(): Promise<void> } {
  return startSteady(perSecond, () => {
    const call = next()
    return {
      call,
      onAnswer: ({ status, body, startedAt, answeredAt }) => {
        const accepted = call.isAccepted(status, body)
        uses.push({ credential: call.credential, startedAt, answeredAt, accepted, status })
      },
    }
  })
}
