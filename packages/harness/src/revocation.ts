// Whether ended credentials are refused at once: what is recorded, and the check over it.
import { type SteadyCall, startSteady } from './steady.ts'

/** One use of a credential: when it was sent, when its answer was there, and whether it was accepted. */
export type Use = {
  credential: string
  startedAt: number
  answeredAt: number
  accepted: boolean
  /** Of the answer, where it was kept. */
  status?: number
}

/** How a credential was ended: when that was asked for and when it was answered. */
export type Ending = { askedAt: number; answeredAt: number }
type Endings = ReadonlyMap<string, Ending>

/** Uses that began after their credential had ended: without any, nothing is shown. */
export const startedAfterEnd = (uses: readonly Use[], endings: Endings): Use[] =>
  uses.filter((use) => use.startedAt > (endings.get(use.credential)?.answeredAt ?? Number.POSITIVE_INFINITY))

/** Those of them that were accepted all the same; there must be none. */
export const acceptedAfterEnd = (uses: readonly Use[], endings: Endings): Use[] =>
  startedAfterEnd(uses, endings).filter((use) => use.accepted)

/** Uses that were refused before anyone had asked for the end of their credential; there must be none either. */
export const refusedBeforeEnd = (uses: readonly Use[], endings: Endings): Use[] =>
  uses.filter(
    (use) =>
      !use.accepted && use.answeredAt < (endings.get(use.credential)?.askedAt ?? Number.POSITIVE_INFINITY),
  )

export type Call = SteadyCall & {
  credential: string
  isAccepted: (status: number, body: string) => boolean
}

/** Sends calls at a steady rate and records each; `next` is asked for every call. */
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
