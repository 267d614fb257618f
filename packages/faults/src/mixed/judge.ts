// Bounds for every scenario under the mixed load, regardless of its fault.
import { checkDelivered, checkOnce, checkSet, plannedKeys } from '../checkers.ts'
import { checkAccepted, checkOncePerKey, findRefused } from '../comms-checkers.ts'
import { type Operation, keyOf } from '../recorder.ts'
import { type createVerdict, lagsAt } from '../verdict.ts'
import {
  checkCalls,
  checkInvalidated,
  checkLogins,
  checkRegisters,
  checkStatuses,
  checkStrangers,
  checkTenants,
  checkUploads,
} from './checkers.ts'
import type { MixedHistory } from './history.ts'

type Figures = ReturnType<typeof createVerdict>
export type MixedRules = {
  /**
   * 5xx responses other than 503 that this fault excuses, for example from a load balancer whose replica was killed.
   */
  isAllowed?: (operation: Operation) => boolean
}

/** Adds the figures that every mixed-load scenario has. */
export function judgeMixed(figures: Figures, history: MixedHistory, { isAllowed }: MixedRules = {}): void {
  const tenants = checkTenants(history)
  const logins = checkLogins(history)
  const { planned, runs, deliveries, comms } = history
  const scheduled = checkSet({ ok: plannedKeys(planned), stored: runs.map(keyOf) })
  figures.none('lost', [
    ...tenants.lost,
    ...checkRegisters(history),
    ...checkAccepted(comms),
    ...findRefused(comms.emits),
    ...scheduled.missing.map((key) => `run ${key}`),
    ...checkDelivered(runs, deliveries).map((id) => `delivery of ${id}`),
    ...checkUploads(history),
    ...logins.lost,
  ])
  figures.none('unauthorized', checkStrangers(history))
  figures.none('dup_sched', [...new Set([...checkOnce(runs, deliveries), ...scheduled.unexpected])])
  figures.none('answered_without_row', checkCalls(history))
  const invalidated = checkInvalidated(history)
  figures.none('accepted_after_invalidation', invalidated.accepted)
  figures.none('dup', [...tenants.strange, ...checkOncePerKey(comms), ...logins.twice])
  figures.none('audit_broken', history.broken)
  figures.none('exits', history.ended)
  figures.none(
    'wrong_status',
    checkStatuses(history.operations, (one) => one.status === 503 || isAllowed?.(one) === true),
  )
  figures.none('no_retry_after', history.withoutRetryAfter)
  figures.none(
    'sockets_missing',
    Array.from({ length: history.sockets.opened - history.sockets.back }, () => 'a socket'),
  )
  if (history.drainSeconds === null) figures.none('drained', ['some work did not complete in time'])
  showLoad(figures, history, invalidated.judged)
}

/** Shows the amount of input. A checker without input passes without checking anything. */
function showLoad(figures: Figures, history: MixedHistory, usedAfterInvalidation: number): void {
  const { operations } = history
  const count = (outcome: Operation['outcome']): number =>
    operations.filter((one) => one.outcome === outcome).length
  figures.atLeast('ok', count('ok'), 100)
  figures.show('unknown', count('unknown'))
  figures.show('used_after_invalidation', usedAfterInvalidation)
  figures.show('runs', history.runs.length)
  figures.show('calls', history.answered.length)
  figures.show('emits', history.comms.emits.length)
  figures.show('uploads', history.uploaded.length)
  figures.show('logins', history.logins.length)
  figures.show('ms', lagsAt(operations.map(({ start, end }) => end - start).sort((a, b) => a - b)))
  figures.show('drain_s', history.drainSeconds ?? 'never')
}
