// Common bounds for the scenarios that break Redis while backends emit notifications and publish hints. Hints are
// best-effort messages.
import {
  type HintHistory,
  checkHints,
  findRefused,
  findLostOutsideOutage,
  computeResumeMs,
} from './comms-checkers.ts'
import type { ReadinessSample } from './comms-stage.ts'
import type { HintRecord } from './hint-load.ts'
import { judgeDrain } from './judge.ts'
import type { createVerdict } from './verdict.ts'

export type BrokenRedis = HintHistory &
  HintRecord & {
    /** The time when Redis was broken, and the earliest time at which hint delivery is expected to resume. */
    brokenAt: number
    healedAt: number
    samples: ReadinessSample[]
    /** The time until hints stopped arriving. */
    drainSeconds: number | null
    /** Number of lost hints, as counted by the replicas. */
    counted: number
  }
type Figures = ReturnType<typeof createVerdict>

const resumeMs = 10_000
/** Time for which a scenario continues after the recovery, to observe that hints are delivered. */
export const watchMs = resumeMs + 4_000
// The fault takes effect shortly before the harness records it, and a hint is recorded before it is sent.
const edgeMs = 500
// On a busy machine, slow Redis responses can cause lost hints at any time. These hints are counted.
const shareLost = 0.05

/** Checks that every emit and publish is accepted, and that every replica stays ready. */
export function judgeService(figures: Figures, { emits, published, samples }: BrokenRedis): void {
  const refused = findRefused(emits)
  figures.none('emit_refused', refused)
  figures.show('emit_ok', `${Math.floor(((emits.length - refused.length) / emits.length) * 100)}%`)
  figures.none(
    'publish_refused',
    published.filter(({ status }) => status !== 202).map(({ key, status }) => `${key} ${status}`),
  )
  judgeReady(figures, samples)
}

/** Checks that every readiness probe returned 200. */
export const judgeReady = (figures: Figures, samples: readonly ReadinessSample[]): void =>
  figures.none(
    'not_ready',
    samples.filter(({ status }) => status !== 200).map(({ replica, status }) => `${replica} ${status}`),
  )

/**
 * Checks that hints always reach the sockets of the sending replica, and that they soon reach the sockets of other
 * replicas again. Returns the number of lost hints.
 */
export function judgeHints(figures: Figures, observed: BrokenRedis): number {
  const { sent, brokenAt, healedAt } = observed
  const { local, remote, wrong } = checkHints(observed)
  figures.none(
    'own_sockets_missed',
    local.map(({ key }) => key),
  )
  figures.none('wrong', wrong)
  // If no hint was lost, Redis was never broken, and the scenario fails.
  figures.atLeast('hints_lost', remote.length, 1)
  figures.show('counted', observed.counted)
  const resumedMs = computeResumeMs(sent, remote, healedAt)
  figures.recovery('resume_ms', { ms: resumedMs, max: resumeMs })
  const [until, from] = [brokenAt - edgeMs, healedAt + resumedMs + edgeMs]
  figures.atMost(
    'lost_outside_outage',
    findLostOutsideOutage(remote, until, from).length,
    Math.ceil(shareLost * findLostOutsideOutage(sent, until, from).length),
  )
  judgeDrain(figures, observed.drainSeconds)
  return remote.length
}
