// Starts runs on request: a run of a trigger now, or a retry of an ended run as a new run. As in a tick, one
// transaction locks the trigger, inserts the run and enqueues its first attempt. These runs are delivered like
// scheduled runs.
import type { Audit, AuditEvent } from '../../platform/audit/append.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { AppError, conflict, notFound, orNotFound, rateLimited } from '../../platform/errors.ts'
import type { Clock } from '../../platform/clock.ts'
import { createTimedIds, parseUuid } from '../../platform/ids.ts'
import { checkName } from '../../platform/inputs/inputs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { RateLimit } from '../../platform/throttle/rate-limit.ts'
import type { Actor } from '../../policy/actor.ts'
import { recheckPermission } from '../../policy/recheck.ts'
import type { BackendsApi } from '../backends/index.ts'
import { createFirstAttempt, firstAttempts } from './attempts.pure.ts'
import * as store from './manual-runs.store.ts'
import { checkNoPendingRun, checkNotRepeated } from './run-conflicts.service.ts'
import { lockRun } from './run-operations.store.ts'
import type { TriggerRun } from './trigger-runs.store.ts'
import { type Trigger, findTrigger, lockTrigger } from './triggers.store.ts'

export type ManualRunsDeps = {
  /** Synchronized with the database clock, because the run counts use the time that the id of a run contains. */
  clock: Clock
  db: Db
  audit: Audit
  jobs: Pick<Jobs, 'announce' | 'enqueue'>
  backends: Pick<BackendsApi, 'listDeployments'>
  /** Limits the requests per project. */
  limitRequests: RateLimit
}
export type ManualRunsService = ReturnType<typeof createManualRunsService>

type Request = { environmentId: string; retryOf: string | null; requestKey: string | null }

const noun = 'trigger run'
const maxKeyLength = 200

export function createManualRunsService(deps: ManualRunsDeps) {
  const { db, jobs } = deps
  const checkLimit = async (projectId: string): Promise<void> => {
    const waitMs = await deps.limitRequests(projectId)
    if (waitMs > 0)
      throw rateLimited('too many runs were started in this project in the last minute; try again', waitMs)
  }
  /** Runs `work` in a transaction that has locked the trigger and checked the caller's permission. */
  const changeRuns = async (
    actor: Actor,
    triggerId: string,
    work: (tx: Tx, trigger: Trigger) => Promise<TriggerRun>,
  ): Promise<TriggerRun> => {
    const { projectId } = orNotFound(await findTrigger(db.read, triggerId), 'trigger')
    await checkLimit(projectId)
    const run = await db.transaction(async (tx) => {
      const trigger = orNotFound(await lockTrigger(tx, triggerId), 'trigger')
      await recheckPermission(tx, actor, 'TRIGGER_RUN', projectId)
      return work(tx, trigger)
    })
    jobs.announce(firstAttempts)
    return run
  }
  return {
    /** Starts a run, or returns the run that an earlier request with the same key started. */
    run: (
      actor: Actor,
      id: string,
      input: { environmentId: string; requestKey?: string | null },
    ): Promise<TriggerRun> => {
      const environmentId = orNotFound(parseUuid(input.environmentId), 'environment')
      const requestKey =
        typeof input.requestKey === 'string' ? checkName(input.requestKey, 'requestKey', maxKeyLength) : null
      return changeRuns(actor, id, async (tx, trigger) => {
        const request = { environmentId, retryOf: null, requestKey }
        return (
          (await findRepeatedRequest(tx, trigger, request)) ??
          (await plan(tx, deps, { actor, trigger, request }))
        )
      })
    },

    /** Starts a new run that retries an ended run. */
    retry: async (actor: Actor, id: string): Promise<TriggerRun> => {
      const triggerId = orNotFound(await store.findTriggerOfRun(db.read, id), noun)
      return changeRuns(actor, triggerId, async (tx, trigger) => {
        const run = orNotFound(await lockRun(tx, id), noun)
        if (run.outcome === 'pending') throw conflict('the run is still pending; wait until it ends')
        if (run.outcome === 'delivered')
          throw conflict('the run was delivered; start another run with runTrigger')
        await checkNotRepeated(tx, run)
        const request = { environmentId: run.environmentId, retryOf: id, requestKey: null }
        return plan(tx, deps, { actor, trigger, request })
      })
    },
  }
}

/**
 * Returns the run that an earlier request with the same key started. Throws if the key was used for another
 * environment.
 */
async function findRepeatedRequest(
  tx: Tx,
  trigger: Trigger,
  { requestKey, environmentId }: Request,
): Promise<TriggerRun | undefined> {
  if (requestKey === null) return undefined
  const run = await store.findRequestedRun(tx, trigger.id, requestKey)
  if (run !== undefined && run.environmentId !== environmentId)
    throw new AppError(
      'key_reused',
      'this requestKey was already used in another environment; use a new key for each run',
    )
  return run
}

type Plan = { actor: Actor; trigger: Trigger; request: Request }

/** Inserts the run, enqueues its first attempt and appends the audit row. */
async function plan(
  tx: Tx,
  { audit, backends, clock, jobs }: ManualRunsDeps,
  { actor, trigger, request }: Plan,
): Promise<TriggerRun> {
  const { id: triggerId, projectId, applicationId, name: triggerName, cronExpression, runKey } = trigger
  const { environmentId } = request
  if (!(await store.hasEnvironment(tx, projectId, environmentId))) throw notFound('environment')
  const deployment = (await backends.listDeployments(tx, [applicationId])).find(
    (one) => one.environmentId === environmentId,
  )
  if (deployment === undefined)
    throw conflict(
      'no backend of the application is registered in this environment; register one, then try again',
    )
  if (!deployment.isLive)
    throw conflict(
      'no registered backend of the application is live in this environment; check the heartbeats, then try again',
    )
  await checkNoPendingRun(tx, { triggerId, environmentId })
  const values = { projectId, applicationId, triggerId, triggerName, cronExpression, runKey }
  const run = await store.insertManualRun(tx, {
    id: createTimedIds(clock)().id,
    ...values,
    ...request,
    requestedBy: actor.user.id,
  })
  await jobs.enqueue(tx, firstAttempts, [createFirstAttempt({ ...run, projectId, applicationId })])
  await audit.append(tx, actor, createEvent(trigger, run))
  return run
}

const createEvent = (trigger: Trigger, run: TriggerRun): AuditEvent => ({
  projectId: trigger.projectId,
  entityType: 'trigger',
  entityId: trigger.id,
  action: run.retryOf === null ? 'run' : 'retry',
  description: `trigger ${trigger.name} ${run.retryOf === null ? 'run' : 'retried'} on request`,
  classes: { runId: 'public', environmentId: 'public', scheduledAt: 'public', retryOf: 'public' },
  before: null,
  after: {
    runId: run.id,
    environmentId: run.environmentId,
    scheduledAt: run.scheduledAt,
    retryOf: run.retryOf,
  },
})
