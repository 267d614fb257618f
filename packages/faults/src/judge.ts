// What must hold of every row that fires at backends which accept.
import { checkDelivered, checkOnce, checkSet, findRedelivered, plannedKeys } from './checkers.ts'
import type { History } from './mutants.ts'
import { keyOf } from './recorder.ts'
import type { createVerdict } from './verdict.ts'

type Figures = ReturnType<typeof createVerdict>

/** Every planned instant has one run, every run reached its backend, and nothing else was scheduled. */
export function judgeFirings(figures: Figures, { planned, runs, deliveries }: History): void {
  const { missing, unexpected } = checkSet({ ok: plannedKeys(planned), stored: runs.map(keyOf) })
  const undelivered = runs
    .filter(({ outcome }) => outcome !== 'delivered')
    .map(({ id, outcome }) => `${id} ${outcome}`)
  figures.none('lost', [...missing, ...new Set([...checkDelivered(runs, deliveries), ...undelivered])])
  figures.none('dup_sched', [...new Set([...checkOnce(runs, deliveries), ...unexpected])])
}

/** Only runs that the replica had in its hands when it was hit may arrive again, and each of them once more. */
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

/** Whether everything was finished in time, and how long that took. */
export function judgeDrain(figures: Figures, drainSeconds: number | null): void {
  if (drainSeconds === null) figures.none('drained', ['something did not come to an end'])
  else figures.show('drain_s', drainSeconds)
}
