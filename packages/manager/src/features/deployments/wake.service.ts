// This service wakes deployments. Only one request at a time calls the orchestrator for a deployment, across all
// processes. Requests in a process share a promise. Between processes, the waking process holds a claim in the database
// (deployment_wakes). In each other process, one request polls the result every 100 ms without holding a connection. A
// claim expires, so a killed process delays the others by a few seconds at most.
import type { Db } from '../../platform/postgres/handles.ts'
import { AppError, conflict, unavailable } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Logger } from '../../platform/log/log.ts'
import {
  type Orchestrator,
  OrchestratorFailure,
  type WakeResult,
} from '../../platform/orchestrator/orchestrator.ts'
import type { DeploymentMetrics } from './deployments.metrics.ts'
import type { FindDeployment } from './find.service.ts'
import { workloadOf } from './specification-rules.pure.ts'
import { type DeploymentKey, type FoundDeployment, claimWake, endWake } from './wakes.store.ts'

export type WakeDeps = {
  db: Db
  find: FindDeployment
  orchestrator: Orchestrator
  log: Logger
  metrics: DeploymentMetrics
  times?: WakeTimes
}
export type WakeTimes = typeof wakeTimes
export type WakeService = ReturnType<typeof createWakeService>

const wakeTimes = {
  /** A second timeout, in case the orchestrator client does not honor its own. */
  orchestratorMs: 6_000,
  /** Duration of a claim. It is longer than the call can take, so that no process takes over from a live one. */
  leaseMs: 8_000,
  /** Time for which later requests reuse a result. */
  resultTtlMs: 2_000,
  /**
   * Time for which later requests reuse a failure. It is longer than the poll interval, so that waiting processes see
   * it.
   */
  failureTtlMs: 500,
  pollIntervalMs: 100,
  /** Maximum time to wait for another process. It is longer than a claim. */
  waitMs: 10_000,
}
const maxWakesInFlight = 100
const maxFailureLength = 500

const notEligible = (): AppError => conflict('the deployment is not scale-to-zero eligible')

/**
 * Creates the service. A wake costs one lookup (find.service.ts). The first of several concurrent wakes also costs two
 * short statements and the orchestrator calls.
 */
export function createWakeService(deps: WakeDeps) {
  const { find, orchestrator, times = wakeTimes } = deps
  const wakesInFlight = new Map<string, Promise<WakeResult>>()
  const startWake = createSharedWake(deps, times)

  return {
    /** Raises the replicas to at least 1. Throws 404, 409 without the flag, and 502 if the orchestrator fails. */
    wake: async (key: DeploymentKey): Promise<WakeResult> => {
      const found = await find(key)
      const { specificationId: id } = found
      if (id === null || found.scaleToZero !== true) throw notEligible()
      if (orchestrator.kind === 'none') return raisedBy(await attempt(deps, ''))
      const recent = recentOutcome(found, times)
      if (recent !== null) return raisedBy(recent)
      const known = wakesInFlight.get(id)
      if (known !== undefined) return known
      // Each wake in flight belongs to a different deployment that an operator has enabled.
      if (wakesInFlight.size >= maxWakesInFlight)
        throw unavailable('too many deployments are being woken; try again')
      const started = startWake(key, found).finally(() => wakesInFlight.delete(id))
      wakesInFlight.set(id, started)
      return started
    },
  }
}

/**
 * Returns the result of a wake that just ended, or null. A success means that the deployment was already awake when
 * this request arrived.
 */
function recentOutcome(found: FoundDeployment, { resultTtlMs, failureTtlMs }: WakeTimes): Outcome | null {
  const { endedMsAgo, minReplicas, failure } = found
  if (endedMsAgo === null) return null
  if (failure !== null) return endedMsAgo > failureTtlMs ? null : { failure }
  return minReplicas === null || endedMsAgo > resultTtlMs ? null : { minReplicas, alreadyAwake: true }
}

type Outcome = WakeResult | { failure: string }

function raisedBy(outcome: Outcome): WakeResult {
  if ('failure' in outcome) throw new AppError('bad_gateway', outcome.failure)
  return outcome
}

/** Wakes a deployment, or waits for the process that wakes it. */
function createSharedWake(deps: WakeDeps, times: WakeTimes) {
  const { db, find, log } = deps

  const wakeAs = async (claim: { specificationId: string; holder: string }, workload: string) => {
    const outcome = await attempt(deps, workload, times.orchestratorMs)
    // The deployment is awake anyway. Other processes wait until the claim expires, and then find it awake.
    await endWake(db.idempotent, claim, outcome).catch((error: unknown) =>
      log.warn({ err: error, workload }, 'could not store the result of a wake'),
    )
    return raisedBy(outcome)
  }

  return async (key: DeploymentKey, first: FoundDeployment): Promise<WakeResult> => {
    const until = performance.now() + times.waitMs
    let [found, awaited] = [first, first.isInProgress === true ? first.holder : null]
    for (;;) {
      const { specificationId } = found
      if (specificationId === null || found.scaleToZero !== true) throw notEligible()
      if (found.isInProgress !== true) {
        const ended = found.holder === awaited ? outcomeOf(found) : recentOutcome(found, times)
        if (ended !== null) return raisedBy(ended)
        const claim = { specificationId, holder: newId() }
        const workload = await claimWake(db.write, { ...claim, ...times })
        if (workload !== undefined) return wakeAs(claim, workload)
      } else awaited = found.holder
      if (performance.now() > until)
        throw unavailable('another request is still waking the deployment; try again')
      await new Promise((resolve) => setTimeout(resolve, times.pollIntervalMs))
      found = await find(key)
    }
  }
}

/** Returns the result of the awaited wake, or null if its claim expired without a result. */
function outcomeOf({ minReplicas, alreadyAwake, failure }: FoundDeployment): Outcome | null {
  if (failure !== null) return { failure }
  return minReplicas === null || alreadyAwake === null ? null : { minReplicas, alreadyAwake }
}

/** Calls the orchestrator. Callers see the message of an OrchestratorFailure, but not of any other error. */
async function attempt(
  { orchestrator, log, metrics }: WakeDeps,
  workload: string,
  timeoutMs = wakeTimes.orchestratorMs,
): Promise<Outcome> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new OrchestratorFailure(`the orchestrator did not respond within ${timeoutMs} ms`)),
    timeoutMs,
  )
  try {
    const raised = await Promise.race([orchestrator.wake(workloadOf(workload)), late.promise])
    metrics.wakes.inc({ outcome: raised.alreadyAwake ? 'already_awake' : 'raised' })
    log.info(
      { workload, min_replicas: raised.minReplicas, already_awake: raised.alreadyAwake },
      'deployment woken',
    )
    return raised
  } catch (error) {
    metrics.wakes.inc({ outcome: 'failed' })
    const isKnown = error instanceof OrchestratorFailure
    if (orchestrator.kind !== 'none')
      log.warn(
        { workload, ...(isKnown ? { failure: error.message } : { err: error }) },
        'could not wake a deployment',
      )
    const text = isKnown ? error.message : 'the orchestrator failed; see the log of the Manager'
    return { failure: text.replaceAll('\0', '').slice(0, maxFailureLength).toWellFormed() }
  } finally {
    clearTimeout(timer)
  }
}
