// Delivers runs: calls a backend, records the result and enqueues the next attempt if necessary. One transaction
// writes the result, the end of the job and the next attempt. If a process is killed, another process fetches its
// jobs. A run is therefore delivered at least once, always with the same id and body. A process that was wrongly
// presumed dead records nothing, because it no longer owns the job.
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { RunningJob, Queue } from '../../platform/jobs/worker.ts'
import type { OutboundPools } from '../../platform/outbound/pools.ts'
import type { Tracing } from '../../platform/tracing/tracing.ts'
import type { BackendsApi } from '../backends/index.ts'
import { callFirstReachable } from './call-backend.service.ts'
import { type RetryRules, evaluateAttempt } from './delivery-rules.pure.ts'
import { type FinishedAttempt, type StartedRun, finishAttempts, startAttempts } from './delivery.store.ts'
import { type AttemptJob, firstAttempts, getGroup, laterAttempts } from './attempts.pure.ts'
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
type Attempt = RunningJob<AttemptJob>
type Target = Awaited<ReturnType<BackendsApi['listLiveTargets']>>[number]
/** An attempt with its result and the delay of the next attempt. */
type AttemptRecord = {
  job: Attempt
  finishedAttempt: FinishedAttempt
  /** Null if no attempt follows. */
  delayMs: number | null
  next: number
}

// An attempt is restarted if its process is lost. A run whose process is lost every time fails after this
// many starts.
const maxStarts = 20
const maxRecords = 200
// A job lease is longer than the sum of these pauses.
const recordPausesMs = [200, 1_000, 3_000]
const postponedMs = 2_000

/** Returns the queues for first and for later attempts. The two queues deliver in the same way. */
export function createDeliveryQueues(deps: DeliveryDeps): Queue[] {
  const { maxDeliveries, maxPerDeployment } = deps.limits
  const record = createRecorder(deps)
  const createQueue = (name: string, maxRunning: number, pollMs: number): Queue => ({
    name,
    maxRunning,
    maxRunningPerGroup: maxPerDeployment,
    isShared: true,
    pollMs,
    run: (jobs) => {
      const startPromise = startRuns(deps, jobs as readonly Attempt[])
      return jobs.map((job, index) => deliver(deps, { job: job as Attempt, index, startPromise, record }))
    },
  })
  // Later attempts belong to failing backends, and must not use the capacity of first attempts.
  const maxRetryDeliveries = Math.max(1, Math.floor(maxDeliveries / 4))
  return [
    createQueue(firstAttempts, Math.max(1, maxDeliveries - maxRetryDeliveries), 500),
    createQueue(laterAttempts, maxRetryDeliveries, 1_000),
  ]
}

type StartedRuns = { runs: Map<number, StartedRun>; targets: Map<string, Target[]> }

/** Starts all fetched jobs with one statement for the runs and one for the backends. */
async function startRuns({ db, backends }: DeliveryDeps, jobs: readonly Attempt[]): Promise<StartedRuns> {
  const runs = await startAttempts(
    db.write,
    jobs.map(({ data }) => data),
  )
  const deployments = new Map(runs.map((run) => [getGroup(run), run]))
  const targets =
    deployments.size === 0 ? [] : await backends.listLiveTargets(db.read, [...deployments.values()])
  return {
    runs: new Map(runs.map((run) => [run.position - 1, run])),
    targets: Map.groupBy(targets, getGroup),
  }
}

type Delivery = {
  job: Attempt
  index: number
  startPromise: Promise<StartedRuns>
  record: (record: AttemptRecord) => Promise<unknown>
}

async function deliver(deps: DeliveryDeps, { job, index, startPromise, record }: Delivery): Promise<void> {
  const { clock, limits, triggerMetrics } = deps
  const { runs, targets } = await startPromise
  const run = runs.get(index)
  // The process that lost the job had already recorded the end of the run. The worker ends the job.
  if (run === undefined) return
  const finish = (
    fields: Omit<FinishedAttempt, 'triggerId' | 'environmentId' | 'scheduledAt'>,
    delayMs: number | null,
    next = job.data.attempt + 1,
  ) => {
    const { triggerId, environmentId, scheduledAt } = run
    const finishedAttempt = { triggerId, environmentId, scheduledAt, ...fields }
    return record({ job, finishedAttempt, delayMs, next })
  }
  if (!run.isEnabled)
    return void (await finish(
      { outcome: 'cancelled', status: null, failure: 'the trigger was disabled' },
      null,
    ))
  if (run.starts > maxStarts)
    return void (await finish(
      { outcome: 'failed', status: null, failure: 'the processes that delivered the run stopped too often' },
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
  // The process that now owns the job calls the backend again.
  if (job.signal.aborted) return
  if ('postponed' in result)
    return void (await finish(
      { outcome: 'pending', status: null, failure: result.postponed },
      postponedMs,
      attempt,
    ))
  const verdict = evaluateAttempt(result, attempt, limits, { random: Math.random(), now: clock.now() })
  const { outcome, status, failure } = verdict
  triggerMetrics.attempts.inc({ result: outcome })
  await finish(
    { outcome: outcome === 'retry' ? 'pending' : outcome, status, failure },
    outcome === 'retry' ? verdict.delayMs : null,
  )
}

/** Returns a function that records attempts in batches. It resolves to false if the process has lost the job. */
function createRecorder({
  db,
  jobs,
  triggerMetrics,
}: DeliveryDeps): (record: AttemptRecord) => Promise<unknown> {
  const recordAll = async (records: AttemptRecord[]): Promise<boolean[]> => {
    const ownedJobs = await db.transaction(async (tx) => {
      const ownedJobs = await jobs.finish(
        records.map(({ job }) => job),
        tx,
      )
      const ownedRecords = records.filter(({ job }) => ownedJobs.has(job.id))
      if (ownedRecords.length > 0)
        await finishAttempts(
          tx,
          ownedRecords.map(({ finishedAttempt }) => finishedAttempt),
        )
      await jobs.enqueue(tx, laterAttempts, ownedRecords.flatMap(createNextAttempts))
      return ownedJobs
    })
    for (const { job, finishedAttempt } of records)
      if (ownedJobs.has(job.id) && finishedAttempt.outcome !== 'pending')
        triggerMetrics.runs.inc({ outcome: finishedAttempt.outcome })
    return records.map(({ job }) => ownedJobs.has(job.id))
  }
  return createCoalescer<AttemptRecord, boolean>({
    // If this process lost a job and fetched it again, the job has two records.
    getKey: ({ job }) => `${job.id} ${job.claims}`,
    run: (records) => retryRecording(() => recordAll(records)),
    maxBatch: maxRecords,
  })
}

/** Retries recording. If a deadlock or a short outage prevented the record, the delivery would be repeated. */
async function retryRecording<T>(work: () => Promise<T>): Promise<T> {
  for (const pauseMs of recordPausesMs)
    try {
      return await work()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  return work()
}

const createNextAttempts = ({ job: { data, owner, group }, delayMs, next }: AttemptRecord) =>
  delayMs === null ? [] : [{ data: { ...data, attempt: next }, delayMs, owner, group }]
