// Common bounds for the scenarios whose backends accept trigger runs.
import { checkDelivered, checkOnce, checkSet, findRedelivered, plannedKeys } from './checkers.ts'
import type { History } from './mutants.ts'
import { keyOf } from './recorder.ts'
import type { createVerdict } from './verdict.ts'

type Figures = ReturnType<typeof createVerdict>

/**
 * Checks that every planned instant has one run, that every run reached its backend, and that nothing else was
 * scheduled.
 */
export function judgeFirings(figures: Figures, { planned, runs, deliveries }: History): void {
  const { missing, unexpected } = checkSet({ ok: plannedKeys(planned), stored: runs.map(keyOf) })
  const undelivered = runs
    .filter(({ outcome }) => outcome !== 'delivered')
    .map(({ id, outcome }) => `${id} ${outcome}`)
  figures.none('lost', [...missing, ...new Set([...checkDelivered(runs, deliveries), ...undelivered])])
  figures.none('dup_sched', [...new Set([...checkOnce(runs, deliveries), ...unexpected])])
}

/**
 * Checks that only runs of lost replicas are redelivered, at most once for each attempt that these replicas had
 * claimed.
 */
export function judgeRedelivered(
  figures: Figures,
  { deliveries, held }: Pick<History, 'deliveries'> & { held: readonly string[] },
): void {
  const again = findRedelivered(deliveries)
  figures.atMost('dup_deliv', again.length, held.length)
  const excused = new Set(held)
  figures.none(
    'dup_of_others',
    again.filter(({ runId }) => !excused.has(runId)).map(({ runId }) => runId),
  )
}

/** Checks that all runs finished in time, and prints the duration. */
export function judgeDrain(figures: Figures, drainSeconds: number | null): void {
  if (drainSeconds === null) figures.none('drained', ['some work did not complete in time'])
  else figures.show('drain_s', drainSeconds)
}
