// Waking deployments. However many requests ask for it in however many processes, one of them at a time calls the
// orchestrator for a deployment. In a process they share a promise. Between processes the one that wakes has a claim in the
// database (deployment_wakes); the others look every 100 ms what became of it, one of each process, without holding a
// connection meanwhile. A claim runs out, so a process that is killed delays the others by seconds at most.
import type { Db } from '../../platform/postgres/handles.ts'
import { AppError, conflict, unavailable } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Logger } from '../../platform/log/log.ts'
import {
  type Orchestrator,
  OrchestratorFailure,
  type Raised,
} from '../../platform/orchestrator/orchestrator.ts'
import type { DeploymentMetrics } from './deployments.metrics.ts'
import type { FindDeployment } from './find.service.ts'
import { workloadOf } from './specification-rules.pure.ts'
import { type FoundDeployment, type Place, claimWake, endWake } from './wakes.store.ts'

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
  /** The orchestrator has its own timeout; this is for one that does not keep it. */
  orchestratorMs: 6_000,
  /** How long a claim lasts: longer than the call can, so that nobody takes over from a process that lives. */
  leaseMs: 8_000,
  /** How long a result counts for requests that come later. */
  keptMs: 2_000,
  /** How long a failure does: longer than a look of others, so that those who waited for it learn of it. */
  keptFailureMs: 500,
  lookEveryMs: 100,
  /** How long others are waited for: longer than a claim lasts. */
  waitMs: 10_000,
}
const maxFlights = 100
const maxFailureLength = 500

const isNotEligible = (): AppError => conflict('the deployment is not scale-to-zero eligible')

/** A wake costs one lookup (find.service.ts); the first of many costs two short statements and the orchestrator's calls. */
export function createWakeService(deps: WakeDeps) {
  const { find, orchestrator, times = wakeTimes } = deps
  const flights = new Map<string, Promise<Raised>>()
  const fly = createFlight(deps, times)

  return {
    /** Raises the replicas to at least 1; throws 404, 409 without the flag, and 502 when the orchestrator fails. */
    wake: async (place: Place): Promise<Raised> => {
      const found = await find(place)
      const { specificationId: id } = found
      if (id === null || found.scaleToZero !== true) throw isNotEligible()
      if (orchestrator.kind === 'none') return raisedBy(await attempt(deps, ''))
      const kept = keptOutcome(found, times)
      if (kept !== null) return raisedBy(kept)
      const known = flights.get(id)
      if (known !== undefined) return known
      // Each is of a deployment of its own, which an operator has opened.
      if (flights.size >= maxFlights) throw unavailable('too many deployments are woken at once; try again')
      const flight = fly(place, found).finally(() => flights.delete(id))
      flights.set(id, flight)
      return flight
    },
  }
}

/** What became of a wake that ended just now; the deployment was awake when this request came, or could not be woken. */
function keptOutcome(found: FoundDeployment, { keptMs, keptFailureMs }: WakeTimes): Outcome | null {
  const { endedMsAgo, minReplicas, failure } = found
  if (endedMsAgo === null) return null
  if (failure !== null) return endedMsAgo > keptFailureMs ? null : { failure }
  return minReplicas === null || endedMsAgo > keptMs ? null : { minReplicas, alreadyAwake: true }
}

type Outcome = Raised | { failure: string }

function raisedBy(outcome: Outcome): Raised {
  if ('failure' in outcome) throw new AppError('bad_gateway', outcome.failure)
  return outcome
}

/** Wakes, or waits for the process that does. */
function createFlight(deps: WakeDeps, times: WakeTimes) {
  const { db, find, log } = deps

  const wakeAs = async (claim: { specificationId: string; holder: string }, workload: string) => {
    const outcome = await attempt(deps, workload, times.orchestratorMs)
    // The deployment is awake all the same; others wait until the claim runs out, and find it so.
    await endWake(db.idempotent, claim, outcome).catch((error: unknown) =>
      log.warn({ err: error, workload }, 'what became of a wake could not be stored'),
    )
    return raisedBy(outcome)
  }

  return async (place: Place, first: FoundDeployment): Promise<Raised> => {
    const until = performance.now() + times.waitMs
    let [found, awaited] = [first, first.isGoingOn === true ? first.holder : null]
    for (;;) {
      const { specificationId } = found
      if (specificationId === null || found.scaleToZero !== true) throw isNotEligible()
      if (found.isGoingOn !== true) {
        const ended = found.holder === awaited ? outcomeOf(found) : keptOutcome(found, times)
        if (ended !== null) return raisedBy(ended)
        const claim = { specificationId, holder: newId() }
        const workload = await claimWake(db.write, { ...claim, ...times })
        if (workload !== undefined) return wakeAs(claim, workload)
      } else awaited = found.holder
      if (performance.now() > until)
        throw unavailable('another request wakes the deployment and has not ended; try again')
      await new Promise((resolve) => setTimeout(resolve, times.lookEveryMs))
      found = await find(place)
    }
  }
}

/** How a wake ended that was waited for; null if it was given up. */
function outcomeOf({ minReplicas, alreadyAwake, failure }: FoundDeployment): Outcome | null {
  if (failure !== null) return { failure }
  return minReplicas === null || alreadyAwake === null ? null : { minReplicas, alreadyAwake }
}

/** Calls the orchestrator; what it says when it fails is for callers too, and an error of any other kind is not. */
async function attempt(
  { orchestrator, log, metrics }: WakeDeps,
  workload: string,
  timeoutMs = wakeTimes.orchestratorMs,
): Promise<Outcome> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new OrchestratorFailure(`the orchestrator did not answer within ${timeoutMs} ms`)),
    timeoutMs,
  )
  try {
    const raised = await Promise.race([orchestrator.wake(workloadOf(workload)), late.promise])
    metrics.wakes.inc({ outcome: raised.alreadyAwake ? 'already_awake' : 'raised' })
    log.info({ workload, min_replicas: raised.minReplicas, already_awake: raised.alreadyAwake }, 'woken')
    return raised
  } catch (error) {
    metrics.wakes.inc({ outcome: 'failed' })
    const isKnown = error instanceof OrchestratorFailure
    if (orchestrator.kind !== 'none')
      log.warn({ workload, ...(isKnown ? { failure: error.message } : { err: error }) }, 'a wake has failed')
    const text = isKnown ? error.message : 'the orchestrator failed; the log of the service says why'
    return { failure: text.replaceAll('\0', '').slice(0, maxFailureLength).toWellFormed() }
  } finally {
    clearTimeout(timer)
  }
}
