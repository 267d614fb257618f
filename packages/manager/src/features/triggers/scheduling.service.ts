// Plans runs. Every process with role `jobs` ticks; a trigger that is due is locked by one of them, which records its runs,
// enqueues their first attempts and says when it is due next, all in one transaction: whoever is killed in between has
// done nothing, and nothing is planned twice. All times are the database's.
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { newId } from '../../platform/ids.ts'
import type { Jobs, NewJob } from '../../platform/jobs/jobs.ts'
import type { Schedule } from '../../platform/jobs/schedules.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { BackendsApi } from '../backends/index.ts'
import { type AttemptJob, firstAttempts, groupOf } from './attempts.pure.ts'
import type { Crons } from './crons.service.ts'
import type { TriggerMetrics } from './triggers.metrics.ts'
import * as store from './scheduling.store.ts'

export type SchedulingDeps = {
  db: Db
  log: Logger
  jobs: Jobs
  backends: Pick<BackendsApi, 'listDeployments'>
  crons: Crons
  triggerMetrics: TriggerMetrics
  misfireToleranceMs: number
}

const maxTriggers = 500
// After an outage a trigger has many instants to record.
const maxRuns = 5_000
// The arithmetic of calendars runs on the event loop, while the triggers are locked.
const maxArithmeticMs = 50
const maxMissed = 100
const dayMs = 86_400_000
// There are partitions for last month, whatever the day of this one.
const oldestRunMs = 28 * dayMs
const lookEveryMs = 1_000

/** Returns the schedule that plans whatever is due, at the moment it is due. Costs one statement a second when idle. */
export function createSchedulingSchedule(deps: SchedulingDeps): Schedule {
  const { db, jobs, triggerMetrics } = deps
  const run = async (): Promise<void> => {
    const dueMs = await store.findNextDueMs(db.read)
    if (dueMs === null || dueMs >= lookEveryMs) return
    // A timer drops fractions, and a look that comes too early finds nothing.
    if (dueMs > 0) await new Promise((resolve) => setTimeout(resolve, Math.ceil(dueMs) + 1))
    for (let isMore = true; isMore;) {
      const { moved, runs } = await db.transaction((tx) => planDue(tx, deps))
      for (const { outcome } of runs) triggerMetrics.countPlanned(outcome)
      if (runs.some(({ outcome }) => outcome === 'pending')) jobs.announce(firstAttempts)
      isMore = moved > 0
    }
  }
  return { name: 'trigger-scheduling', everyMs: lookEveryMs, run }
}

/** Plans up to so many triggers; returns how many, and the runs that were recorded. */
async function planDue(tx: Tx, deps: SchedulingDeps): Promise<{ moved: number; runs: store.NewRun[] }> {
  const due = await store.lockDue(tx, maxTriggers)
  if (due.length === 0) return { moved: 0, runs: [] }
  const deployments = Map.groupBy(
    await deps.backends.listDeployments(tx, [...new Set(due.map(({ applicationId }) => applicationId))]),
    ({ applicationId }) => applicationId,
  )
  const instantsOf = createInstants(deps)
  const until = performance.now() + maxArithmeticMs
  const [moves, runs]: [{ id: string; nextFireAt: string }[], store.PlannedRun[]] = [[], []]
  for (const trigger of due) {
    // The rest stays due, for the next transaction.
    if (runs.length >= maxRuns || performance.now() > until) break
    const own = deployments.get(trigger.applicationId) ?? []
    const { instants, firing, next } = instantsOf(trigger, own.length > 0)
    moves.push({ id: trigger.id, nextFireAt: next })
    for (const { environmentId, isLive } of own)
      for (const scheduledAt of instants)
        runs.push({
          id: newId(),
          trigger,
          environmentId,
          scheduledAt,
          isMissed: scheduledAt !== firing,
          isLive,
        })
  }
  const recorded = runs.length === 0 ? [] : await store.insertRuns(tx, runs)
  const pending = recorded.filter(({ outcome }) => outcome === 'pending')
  await deps.jobs.enqueue(tx, firstAttempts, pending.map(firstAttempt))
  await store.moveNextFire(tx, moves)
  return { moved: moves.length, runs: recorded }
}

const firstAttempt = (run: store.NewRun): NewJob<AttemptJob> => {
  const { triggerId, environmentId, scheduledAt } = run
  return {
    data: { triggerId, environmentId, scheduledAt, attempt: 1 },
    owner: run.projectId,
    group: groupOf(run),
  }
}

type Instants = {
  /** Due until now, newest last. */
  instants: string[]
  /** Which of them fires; null when all are too old. */
  firing: string | null
  next: string
}

/** Triggers with the same expression that are due since the same instant share the arithmetic. */
function createInstants({ crons, misfireToleranceMs, log }: SchedulingDeps) {
  const known = new Map<string, Instants>()
  const instantsOf = (trigger: store.DueTrigger, isDeployed: boolean): Instants => {
    const [since, now] = [new Date(trigger.nextFireAt), new Date(trigger.now)]
    try {
      const cron = crons.of(trigger.cronExpression)
      const next = cron.nextAfter(now)
      if (next === null) throw new Error('the expression fires no more')
      // Nothing is recorded of a trigger that nobody is registered for.
      if (!isDeployed) return { instants: [], firing: null, next: next.toISOString() }
      const second = cron.nextAfter(since)
      const from = new Date(Math.max(since.getTime() - 1, now.getTime() - oldestRunMs))
      const instants =
        second !== null && second <= now ? cron.between(from, now, maxMissed) : since > from ? [since] : []
      const latest = instants.at(-1)
      const fires = latest !== undefined && now.getTime() - latest.getTime() < misfireToleranceMs
      return {
        instants: instants.map((instant) => instant.toISOString()),
        firing: fires ? latest.toISOString() : null,
        next: next.toISOString(),
      }
    } catch (error) {
      // Saved expressions are checked. One that cannot be read must not hold up the others, nor come again at once.
      log.error({ err: error, trigger: trigger.id }, 'a trigger cannot be planned')
      return { instants: [], firing: null, next: new Date(now.getTime() + dayMs).toISOString() }
    }
  }
  return (trigger: store.DueTrigger, isDeployed: boolean): Instants => {
    const key = `${isDeployed} ${trigger.nextFireAt} ${trigger.cronExpression}`
    const instants = known.get(key) ?? instantsOf(trigger, isDeployed)
    known.set(key, instants)
    return instants
  }
}
