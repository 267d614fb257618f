// Plans runs. Every process with role `jobs` ticks. A tick locks due triggers, records their runs, enqueues the first
// attempts and sets the next due times, all in one transaction. A killed process therefore leaves no partial plan, and
// no run is planned twice. All times are from the database clock.
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { createTimedIds } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Schedule } from '../../platform/jobs/schedules.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { BackendsApi } from '../backends/index.ts'
import { createFirstAttempt, firstAttempts } from './attempts.pure.ts'
import type { CronCache } from './crons.service.ts'
import type { TriggerMetrics } from './triggers.metrics.ts'
import * as store from './scheduling.store.ts'

export type SchedulingDeps = {
  db: Db
  log: Logger
  jobs: Jobs
  backends: Pick<BackendsApi, 'listDeployments'>
  crons: CronCache
  triggerMetrics: TriggerMetrics
  misfireToleranceMs: number
}

const maxTriggers = 500
// After an outage, a trigger can have many instants to record.
const maxRuns = 5_000
// Calendar arithmetic blocks the event loop while the triggers are locked.
const maxArithmeticMs = 50
const maxMissed = 100
const dayMs = 86_400_000
// An instant 28 days ago is in the previous month at the earliest, which always has a partition.
const oldestRunMs = 28 * dayMs
const tickIntervalMs = 1_000

/**
 * Returns the schedule that plans triggers when they become due. If no trigger is due, it costs one statement per
 * second.
 */
export function createSchedulingSchedule(deps: SchedulingDeps): Schedule {
  const { db, jobs, triggerMetrics } = deps
  const run = async (): Promise<void> => {
    const dueMs = await store.findNextDueMs(db.read)
    if (dueMs === null || dueMs >= tickIntervalMs) return
    // Timers truncate fractions, and an early tick would find nothing.
    if (dueMs > 0) await new Promise((resolve) => setTimeout(resolve, Math.ceil(dueMs) + 1))
    for (let mayHaveMore = true; mayHaveMore;) {
      const { plannedCount, runs } = await db.transaction((tx) => planDue(tx, deps))
      for (const { outcome } of runs) triggerMetrics.countPlanned(outcome)
      if (runs.some(({ outcome }) => outcome === 'pending')) jobs.announce(firstAttempts)
      mayHaveMore = plannedCount > 0
    }
  }
  return { name: 'trigger-scheduling', everyMs: tickIntervalMs, run }
}

/** Plans up to `maxTriggers` triggers. Returns the number of triggers and the recorded runs. */
async function planDue(
  tx: Tx,
  deps: SchedulingDeps,
): Promise<{ plannedCount: number; runs: store.NewRun[] }> {
  const dueTriggers = await store.lockDueTriggers(tx, maxTriggers)
  if (dueTriggers.length === 0) return { plannedCount: 0, runs: [] }
  const deployments = Map.groupBy(
    await deps.backends.listDeployments(tx, [
      ...new Set(dueTriggers.map(({ applicationId }) => applicationId)),
    ]),
    ({ applicationId }) => applicationId,
  )
  const computeInstants = createInstantsFinder(deps)
  // Use the database time, because the roll-up finds runs by the time in their ids.
  const now = new Date((dueTriggers[0] as store.DueTrigger).now)
  const nextId = createTimedIds({ now: () => now })
  const deadline = performance.now() + maxArithmeticMs
  const [nextFireTimes, runs]: [{ id: string; nextFireAt: string }[], store.PlannedRun[]] = [[], []]
  for (const trigger of dueTriggers) {
    // The remaining triggers stay due for the next transaction.
    if (runs.length >= maxRuns || performance.now() > deadline) break
    const triggerDeployments = deployments.get(trigger.applicationId) ?? []
    const { instants, firingInstant, next } = computeInstants(trigger, triggerDeployments.length > 0)
    nextFireTimes.push({ id: trigger.id, nextFireAt: next })
    for (const { environmentId, isLive } of triggerDeployments)
      for (const scheduledAt of instants)
        runs.push({
          id: nextId().id,
          trigger,
          environmentId,
          scheduledAt,
          isMissed: scheduledAt !== firingInstant,
          isLive,
        })
  }
  const recordedRuns = runs.length === 0 ? [] : await store.insertRuns(tx, runs)
  const pendingRuns = recordedRuns.filter(({ outcome }) => outcome === 'pending')
  await deps.jobs.enqueue(tx, firstAttempts, pendingRuns.map(createFirstAttempt))
  await store.setNextFireTimes(tx, nextFireTimes)
  return { plannedCount: nextFireTimes.length, runs: recordedRuns }
}

type Instants = {
  /** Due instants up to now, newest last. */
  instants: string[]
  /** The instant for which the trigger fires; null if all instants are too old. */
  firingInstant: string | null
  next: string
}

/**
 * Returns a function that computes the instants of a trigger. Triggers with the same expression and due
 * time share the instants.
 */
function createInstantsFinder({ crons, misfireToleranceMs, log }: SchedulingDeps) {
  const cachedInstants = new Map<string, Instants>()
  const computeInstants = (trigger: store.DueTrigger, isDeployed: boolean): Instants => {
    const [dueInstant, now] = [new Date(trigger.nextFireAt), new Date(trigger.now)]
    try {
      const cron = crons.getCron(trigger.cronExpression)
      const next = cron.findNext(now)
      if (next === null) throw new Error('the cron expression has no further planned time')
      // A trigger without registered backends records no runs.
      if (!isDeployed) return { instants: [], firingInstant: null, next: next.toISOString() }
      const secondInstant = cron.findNext(dueInstant)
      const from = new Date(Math.max(dueInstant.getTime() - 1, now.getTime() - oldestRunMs))
      const instants =
        secondInstant !== null && secondInstant <= now
          ? cron.listBetween(from, now, maxMissed)
          : dueInstant > from
            ? [dueInstant]
            : []
      const latestInstant = instants.at(-1)
      const isFiring =
        latestInstant !== undefined && now.getTime() - latestInstant.getTime() < misfireToleranceMs
      return {
        instants: instants.map((instant) => instant.toISOString()),
        firingInstant: isFiring ? latestInstant.toISOString() : null,
        next: next.toISOString(),
      }
    } catch (error) {
      // Stored expressions are validated. A trigger with an unreadable expression must neither block other
      // triggers nor be due again immediately.
      log.error({ err: error, trigger: trigger.id }, 'cannot plan trigger')
      return { instants: [], firingInstant: null, next: new Date(now.getTime() + dayMs).toISOString() }
    }
  }
  return (trigger: store.DueTrigger, isDeployed: boolean): Instants => {
    const key = `${isDeployed} ${trigger.nextFireAt} ${trigger.cronExpression}`
    const instants = cachedInstants.get(key) ?? computeInstants(trigger, isDeployed)
    cachedInstants.set(key, instants)
    return instants
  }
}
