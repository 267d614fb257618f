// This service wakes deployments. Across all processes, only one request at a time calls the orchestrator for
// a deployment. Requests in the same process share a promise. Across processes, the waking process holds a
// claim in the database (deployment_wakes). In every other process, one request polls for the result every
// 100 ms without holding a connection. Because claims expire, a killed process delays the others by at most a
// few seconds.
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
import { parseWorkload } from './specification-rules.pure.ts'
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
  /** A second timeout, in case the orchestrator client does not enforce its own timeout. */
  orchestratorMs: 6_000,
  /**
   * Duration of a claim. It is longer than any call to the orchestrator, so that no process takes over a wake from a
   * live process.
   */
  leaseMs: 8_000,
  /** Time for which later requests reuse a result. */
  resultTtlMs: 2_000,
  /**
   * Time for which later requests reuse a failure. It is longer than the poll interval, so that waiting processes
   * notice the failure.
   */
  failureTtlMs: 500,
  pollIntervalMs: 100,
  /** Maximum time to wait for another process. It is longer than the duration of a claim. */
  waitMs: 10_000,
}
const maxWakesInFlight = 100
const maxFailureLength = 500

const createNotEligibleError = (): AppError => conflict('the deployment is not scale-to-zero eligible')

/**
 * Creates the service. A wake costs one lookup (find.service.ts). The first of several concurrent wakes also
 * costs two short statements and the calls to the orchestrator.
 */
export function createWakeService(deps: WakeDeps) {
  const { find, orchestrator, times = wakeTimes } = deps
  const wakesInFlight = new Map<string, Promise<WakeResult>>()
  const startWake = createSharedWake(deps, times)

  return {
    /**
     * Raises the replicas to at least 1. Throws 404 for an unknown deployment, 409 if the flag is not set,
     * and 502 if the orchestrator fails.
     */
    wake: async (key: DeploymentKey): Promise<WakeResult> => {
      const deployment = await find(key)
      const { specificationId: id } = deployment
      if (id === null || deployment.scaleToZero !== true) throw createNotEligibleError()
      if (orchestrator.kind === 'none') return unwrapOutcome(await callOrchestrator(deps, ''))
      const lastOutcome = findRecentOutcome(deployment, times)
      if (lastOutcome !== null) return unwrapOutcome(lastOutcome)
      const pendingWake = wakesInFlight.get(id)
      if (pendingWake !== undefined) return pendingWake
      // Each wake in flight is for a different deployment that an operator has allowed to scale to zero, so only very
      // many deployments can reach this limit.
      if (wakesInFlight.size >= maxWakesInFlight)
        throw unavailable('too many deployments are being woken; try again')
      const newWake = startWake(key, deployment).finally(() => wakesInFlight.delete(id))
      wakesInFlight.set(id, newWake)
      return newWake
    },
  }
}

/**
 * Returns the result of a wake that has just ended, or null. A success means that the deployment was already
 * awake when this request arrived.
 */
function findRecentOutcome(
  deployment: FoundDeployment,
  { resultTtlMs, failureTtlMs }: WakeTimes,
): Outcome | null {
  const { endedMsAgo, minReplicas, failure } = deployment
  if (endedMsAgo === null) return null
  if (failure !== null) return endedMsAgo > failureTtlMs ? null : { failure }
  return minReplicas === null || endedMsAgo > resultTtlMs ? null : { minReplicas, alreadyAwake: true }
}

type Outcome = WakeResult | { failure: string }

function unwrapOutcome(outcome: Outcome): WakeResult {
  if ('failure' in outcome) throw new AppError('bad_gateway', outcome.failure)
  return outcome
}

/** Returns a function that wakes a deployment, or waits for the process that is waking it. */
function createSharedWake(deps: WakeDeps, times: WakeTimes) {
  const { db, find, log } = deps

  const runWake = async (claim: { specificationId: string; holder: string }, workload: string) => {
    const outcome = await callOrchestrator(deps, workload, times.orchestratorMs)
    // If storing the result fails, the deployment is awake anyway. Other processes find it awake after the claim
    // expires.
    await endWake(db.idempotent, claim, outcome).catch((error: unknown) =>
      log.warn({ err: error, workload }, 'could not store the result of a wake'),
    )
    return unwrapOutcome(outcome)
  }

  return async (key: DeploymentKey, foundDeployment: FoundDeployment): Promise<WakeResult> => {
    const deadline = performance.now() + times.waitMs
    let [deployment, awaitedHolder] = [
      foundDeployment,
      foundDeployment.isInProgress === true ? foundDeployment.holder : null,
    ]
    for (;;) {
      const { specificationId } = deployment
      if (specificationId === null || deployment.scaleToZero !== true) throw createNotEligibleError()
      if (deployment.isInProgress !== true) {
        const previousOutcome =
          deployment.holder === awaitedHolder ? readOutcome(deployment) : findRecentOutcome(deployment, times)
        if (previousOutcome !== null) return unwrapOutcome(previousOutcome)
        const claim = { specificationId, holder: newId() }
        const workload = await claimWake(db.write, { ...claim, ...times })
        if (workload !== undefined) return runWake(claim, workload)
      } else awaitedHolder = deployment.holder
      if (performance.now() > deadline)
        throw unavailable('another request is still waking the deployment; try again')
      await new Promise((resolve) => setTimeout(resolve, times.pollIntervalMs))
      deployment = await find(key)
    }
  }
}

/** Returns the result of the awaited wake, or null if its claim expired without a result. */
function readOutcome({ minReplicas, alreadyAwake, failure }: FoundDeployment): Outcome | null {
  if (failure !== null) return { failure }
  return minReplicas === null || alreadyAwake === null ? null : { minReplicas, alreadyAwake }
}

/**
 * Calls the orchestrator. Callers see the message of an OrchestratorFailure, but not the message of any other
 * error.
 */
async function callOrchestrator(
  { orchestrator, log, metrics }: WakeDeps,
  workload: string,
  timeoutMs = wakeTimes.orchestratorMs,
): Promise<Outcome> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => timeout.reject(new OrchestratorFailure(`the orchestrator did not respond within ${timeoutMs} ms`)),
    timeoutMs,
  )
  try {
    const wakeResult = await Promise.race([orchestrator.wake(parseWorkload(workload)), timeout.promise])
    metrics.wakes.inc({ outcome: wakeResult.alreadyAwake ? 'already_awake' : 'raised' })
    log.info(
      { workload, min_replicas: wakeResult.minReplicas, already_awake: wakeResult.alreadyAwake },
      'deployment woken',
    )
    return wakeResult
  } catch (error) {
    metrics.wakes.inc({ outcome: 'failed' })
    const isExpectedFailure = error instanceof OrchestratorFailure
    if (orchestrator.kind !== 'none')
      log.warn(
        { workload, ...(isExpectedFailure ? { failure: error.message } : { err: error }) },
        'could not wake a deployment',
      )
    const text = isExpectedFailure ? error.message : 'the orchestrator failed; see the log of the Manager'
    return { failure: text.replaceAll('\0', '').slice(0, maxFailureLength).toWellFormed() }
  } finally {
    clearTimeout(timer)
  }
}
