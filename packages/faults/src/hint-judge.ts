// What must hold of every row in which Redis is harmed while backends emit and publish.
import { type HintHistory, checkHints, findRefused, lostMeanwhile, resumedAfter } from './comms-checkers.ts'
import type { ReadinessSample } from './comms-stage.ts'
import type { HintRecord } from './hint-load.ts'
import { judgeDrain } from './judge.ts'
import type { createVerdict } from './verdict.ts'

export type HarmedRedis = HintHistory &
  HintRecord & {
    /** When Redis was harmed, and from when on hints may be expected to flow again. */
    harmedAt: number
    healedAt: number
    samples: ReadinessSample[]
    /** How long it took until no more hints arrived. */
    drainSeconds: number | null
    /** How much the replicas counted as lost. */
    counted: number
  }
type Figures = ReturnType<typeof createVerdict>

const resumeMs = 10_000
/** How long a row goes on after that, so that hints are seen to flow. */
export const watchMs = resumeMs + 4_000
// The harm takes effect a moment before the harness notes it, and a hint is noted before it is sent.
const edgeMs = 500
// A Redis that answers late on a busy machine costs some hints at any time; they are counted.
const shareLost = 0.05

/** Every emit and publish is accepted, and every replica is ready all the time. */
export function judgeService(figures: Figures, { emits, published, samples }: HarmedRedis): void {
  const refused = findRefused(emits)
  figures.none('emit_refused', refused)
  figures.show('emit_ok', `${Math.floor(((emits.length - refused.length) / emits.length) * 100)}%`)
  figures.none(
    'publish_refused',
    published.filter(({ status }) => status !== 202).map(({ key, status }) => `${key} ${status}`),
  )
  judgeReady(figures, samples)
}

/** Every replica is ready whenever it is asked. */
export const judgeReady = (figures: Figures, samples: readonly ReadinessSample[]): void =>
  figures.none(
    'not_ready',
    samples.filter(({ status }) => status !== 200).map(({ replica, status }) => `${replica} ${status}`),
  )

/** Hints reach the sockets of the replica that sends them always, and those of others soon again; returns how many did not. */
export function judgeHints(figures: Figures, observed: HarmedRedis): number {
  const { sent, harmedAt, healedAt } = observed
  const { local, remote, wrong } = checkHints(observed)
  figures.none(
    'own_sockets_missed',
    local.map(({ key }) => key),
  )
  figures.none('wrong', wrong)
  // A harm that costs no hint shows nothing.
  figures.atLeast('hints_lost', remote.length, 1)
  figures.show('counted', observed.counted)
  const resumedMs = resumedAfter(sent, remote, healedAt)
  figures.recovery('resume_ms', { ms: resumedMs, most: resumeMs })
  const [until, from] = [harmedAt - edgeMs, healedAt + resumedMs + edgeMs]
  figures.atMost(
    'lost_meanwhile',
    lostMeanwhile(remote, until, from).length,
    Math.ceil(shareLost * lostMeanwhile(sent, until, from).length),
  )
  judgeDrain(figures, observed.drainSeconds)
  return remote.length
}
