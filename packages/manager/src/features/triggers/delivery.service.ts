// Delivers runs: calls a backend, records what came of it, and enqueues the next attempt where there is to be one. What an
// attempt left, the end of its job and the next attempt are one transaction. A process that is killed leaves its job, which
// another gets: a run is delivered at least once, with the same id and the same body each time. One that only seems dead
// cannot record anything, because its job is no longer its own.
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { HeldJob, Queue } from '../../platform/jobs/worker.ts'
import type { OutboundPools } from '../../platform/outbound/pools.ts'
import type { Tracing } from '../../platform/tracing/tracing.ts'
import type { BackendsApi } from '../backends/index.ts'
import { callFirstReachable } from './call-backend.service.ts'
import { type RetryRules, judgeAttempt } from './delivery-rules.pure.ts'
import { type BegunRun, type EndedAttempt, beginAttempts, endAttempts } from './delivery.store.ts'
import { type AttemptJob, firstAttempts, groupOf, laterAttempts } from './attempts.pure.ts'
import type { TriggerMetrics } from './triggers.metrics.ts'

export type DeliveryDeps = {
  db: Db
  clock: Clock
  jobs: Jobs
  backends: Pick<BackendsApi, 'listLiveTargets'>
  pools: OutboundPools
  tracing: Tracing
  triggerMetrics: TriggerMetrics
  limits: RetryRules & { attemptTimeoutMs: number; maxDeliveries: number; maxPerDeployment: number }
}
type Attempt = HeldJob<AttemptJob>
type Target = Awaited<ReturnType<BackendsApi['listLiveTargets']>>[number]
/** An attempt with what is to be recorded of it, and when the next one is made. */
type Ending = {
  job: Attempt
  ended: EndedAttempt
  /** Null when no attempt follows. */
  delayMs: number | null
  next: number
}

// The same attempt may be begun again when processes are lost; a run that each of them died of is given up.
const maxStarts = 20
const maxEndings = 200
// Claims hold for longer than these together.
const recordPausesMs = [200, 1_000, 3_000]
const postponedMs = 2_000

/** The queues of first and of later attempts; both deliver alike. */
export function createDeliveryQueues(deps: DeliveryDeps): Queue[] {
  const { maxDeliveries, maxPerDeployment } = deps.limits
  const record = createRecorder(deps)
  const queueOf = (name: string, maxHeld: number, pollMs: number): Queue => ({
    name,
    maxHeld,
    maxHeldPerGroup: maxPerDeployment,
    isShared: true,
    pollMs,
    run: (jobs) => {
      const begun = begin(deps, jobs as readonly Attempt[])
      return jobs.map((job, index) => deliver(deps, { job: job as Attempt, index, begun, record }))
    },
  })
  // Later attempts are of those that fail: they do not take the room of the others.
  const retries = Math.max(1, Math.floor(maxDeliveries / 4))
  return [
    queueOf(firstAttempts, Math.max(1, maxDeliveries - retries), 500),
    queueOf(laterAttempts, retries, 1_000),
  ]
}

type Begun = { runs: Map<number, BegunRun>; targets: Map<string, Target[]> }

/** One statement for the runs, one for the backends, however many jobs were fetched together. */
async function begin({ db, backends }: DeliveryDeps, jobs: readonly Attempt[]): Promise<Begun> {
  const runs = await beginAttempts(
    db.write,
    jobs.map(({ data }) => data),
  )
  const deployments = new Map(runs.map((run) => [groupOf(run), run]))
  const targets =
    deployments.size === 0 ? [] : await backends.listLiveTargets(db.read, [...deployments.values()])
  return {
    runs: new Map(runs.map((run) => [run.position - 1, run])),
    targets: Map.groupBy(targets, groupOf),
  }
}

type Delivery = {
  job: Attempt
  index: number
  begun: Promise<Begun>
  record: (ending: Ending) => Promise<unknown>
}

async function deliver(deps: DeliveryDeps, { job, index, begun, record }: Delivery): Promise<void> {
  const { clock, limits, triggerMetrics } = deps
  const { runs, targets } = await begun
  const run = runs.get(index)
  // It is over: a process that was lost had recorded it. The worker ends the job.
  if (run === undefined) return
  const ending = (
    ended: Omit<EndedAttempt, 'triggerId' | 'environmentId' | 'scheduledAt'>,
    delayMs: number | null,
    next = job.data.attempt + 1,
  ) => {
    const { triggerId, environmentId, scheduledAt } = run
    const whole = { triggerId, environmentId, scheduledAt, ...ended }
    return record({ job, ended: whole, delayMs, next })
  }
  if (!run.isEnabled)
    return void (await ending(
      { outcome: 'cancelled', status: null, failure: 'the trigger was disabled' },
      null,
    ))
  if (run.starts > maxStarts)
    return void (await ending(
      { outcome: 'failed', status: null, failure: 'it was begun too often by processes that were lost' },
      null,
    ))
  const { attempt } = job.data
  if (attempt === 1 && run.starts === 1)
    triggerMetrics.lag.observe((Date.parse(run.executedAt) - Date.parse(run.scheduledAt)) / 1_000)
  const result = await callFirstReachable(
    { pools: deps.pools, clock, tracing: deps.tracing, attemptTimeoutMs: limits.attemptTimeoutMs },
    {
      run,
      attempt,
      signal: job.signal,
      targets: targets.get(job.group) ?? [],
      listTargets: () => deps.backends.listLiveTargets(deps.db.read, [run]),
    },
  )
  // What was sent meanwhile is sent again by whoever has the job now.
  if (job.signal.aborted) return
  if ('postponed' in result)
    return void (await ending(
      { outcome: 'pending', status: null, failure: result.postponed },
      postponedMs,
      attempt,
    ))
  const verdict = judgeAttempt(result, attempt, limits, { random: Math.random(), now: clock.now() })
  const { outcome, status, failure } = verdict
  triggerMetrics.attempts.inc({ result: outcome })
  await ending(
    { outcome: outcome === 'retry' ? 'pending' : outcome, status, failure },
    outcome === 'retry' ? verdict.delayMs : null,
  )
}

/** Returns a function that records endings, together with others that end meanwhile; false for a job that was lost. */
function createRecorder({ db, jobs, triggerMetrics }: DeliveryDeps): (ending: Ending) => Promise<unknown> {
  const recordAll = async (endings: Ending[]): Promise<boolean[]> => {
    const held = await db.transaction(async (tx) => {
      const held = await jobs.finish(
        endings.map(({ job }) => job),
        tx,
      )
      const ours = endings.filter(({ job }) => held.has(job.id))
      if (ours.length > 0)
        await endAttempts(
          tx,
          ours.map(({ ended }) => ended),
        )
      await jobs.enqueue(tx, laterAttempts, ours.flatMap(nextAttempt))
      return held
    })
    for (const { job, ended } of endings)
      if (held.has(job.id) && ended.outcome !== 'pending') triggerMetrics.runs.inc({ outcome: ended.outcome })
    return endings.map(({ job }) => held.has(job.id))
  }
  return createCoalesced<Ending, boolean>({
    // A job that this process lost and got again has two endings.
    keyOf: ({ job }) => `${job.id} ${job.claims}`,
    run: (endings) => persistently(() => recordAll(endings)),
    maxBatch: maxEndings,
  })
}

/** What was delivered would be delivered again if its record were lost to a deadlock or a moment without the database. */
async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (const pauseMs of recordPausesMs)
    try {
      return await work()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  return work()
}

const nextAttempt = ({ job: { data, owner, group }, delayMs, next }: Ending) =>
  delayMs === null ? [] : [{ data: { ...data, attempt: next }, delayMs, owner, group }]
