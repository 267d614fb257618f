// A call through the ESB, in the order of its checks: endpoint, log, access; then it is forwarded. Its outcome is
// logged, a refusal too. Who calls is known before this begins.
import type { Machine } from '../../policy/authenticate.ts'
import { AppError, forbidden } from '../../platform/errors.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { createFairShare } from '../../platform/throttle/fair-share.ts'
import { CallerDisconnected, RelayFailure } from '../../platform/outbound/relay.ts'
import { BodyAborted } from '../../platform/outbound/request-body.ts'
import type { CallLogApi, Outcome } from '../call-log/index.ts'
import type { GatewayMetrics } from './gateway.metrics.ts'
import { type ForwardingDeps, type Incoming, createForwarding } from './forwarding.service.ts'
import { type Invocation, readInvocation, withQuery } from './invocation.pure.ts'
import { type Target, type TargetsDeps, createTargets } from './targets.service.ts'

export type GatewayDeps = TargetsDeps &
  ForwardingDeps & {
    metrics: Metrics
    gatewayMetrics: GatewayMetrics
    callLog: CallLogApi
    /** Calls in flight, of all projects together. */
    maxCalls: number
  }
export type GatewayService = ReturnType<typeof createGatewayService>

const maxCallWaitMs = 1_000

/** Forwards calls. */
export function createGatewayService(deps: GatewayDeps) {
  const answer = createAnswer(deps)
  // A call keeps its connection until it is answered, and a caller that sends a body slowly delays that.
  const calls = createFairShare({
    capacity: deps.maxCalls,
    maxWaiting: deps.maxCalls,
    maxWaitMs: maxCallWaitMs,
    full: 'too many calls are in flight; try again',
  })
  const answerWithinLimit = async (incoming: Incoming, found: Found): Promise<void> => {
    const call = await calls.take([incoming.machine.projectId]).catch((error: unknown) => {
      noteShed(deps, error)
      throw error
    })
    try {
      await answer(incoming, found)
    } finally {
      call.release()
    }
  }
  return {
    /** Answers the call, or throws the error to send. */
    call: async (incoming: Incoming): Promise<void> => {
      const found: Found = { applicationId: null }
      try {
        await answerWithinLimit(incoming, found)
      } catch (error) {
        const outcome = outcomeOf(error)
        incoming.onFailure(outcome)
        // The service answers with 500, 502 or 503, or cuts; what the partner answered is no error here.
        if ((outcome.status ?? 0) >= 500) deps.gatewayMetrics.countFailure(found.applicationId)
        throw answerFor(error)
      }
    },
  }
}

/** What a failed call is counted by: an application that has the endpoint, never an id that a caller made up. */
type Found = { applicationId: string | null }

function createAnswer(deps: GatewayDeps) {
  const findTarget = createTargets(deps)
  const { record } = deps.callLog
  const forward = createForwarding(deps)
  return async (incoming: Incoming, found: Found): Promise<void> => {
    const invocation = readInvocation(incoming.request.url ?? '')
    const target = invocation && (await findTarget(keyOf(incoming.machine, invocation)))
    if (invocation === null || target === null)
      throw new AppError('not_found', 'Endpoint not found or not enabled')
    found.applicationId = invocation.applicationId
    incoming.onEndpoint(target.id)
    const recording = record(factsOf(incoming, invocation, target))
    await recording.begin()
    const started = performance.now()
    let result: 'answered' | 'failed' | 'refused' | 'abandoned' = 'answered'
    try {
      if (!target.isAllowed) throw forbidden('the machine user has no access to this endpoint')
      await forward({ incoming, target, query: invocation.query, recording })
    } catch (error) {
      result = error instanceof RelayFailure ? 'failed' : isAbandoned(error) ? 'abandoned' : 'refused'
      noteShed(deps, error)
      const outcome = outcomeOf(error)
      incoming.onFailure(outcome)
      // What failed was logging the end: there is nothing more to write.
      if (!recording.hasEnded()) await recording.end(outcome)
      throw error
    } finally {
      deps.gatewayMetrics.forward.observe({ outcome: result }, (performance.now() - started) / 1_000)
    }
  }
}

function noteShed({ metrics }: GatewayDeps, error: unknown): void {
  if (error instanceof AppError && error.code === 'unavailable') metrics.shed.inc({ point: 'esb' })
}

const keyOf = (machine: Machine, { applicationId, path }: Invocation) => ({
  projectId: machine.projectId,
  version: machine.endpointsVersion,
  machineUserId: machine.id,
  applicationId,
  path,
})

const factsOf = (
  { requestId, machine, sourceIp, request }: Incoming,
  invocation: Invocation,
  target: Target,
): Parameters<CallLogApi['record']>[0] => ({
  requestId,
  endpoint: target,
  isRefused: !target.isAllowed,
  machineUserId: machine.id,
  sourceIp,
  method: request.method as string,
  path: `/esb/${invocation.applicationId}${invocation.path}`,
  targetUrl: target.upstream === null ? '' : withQuery(target.upstream.url, invocation.query),
  headers: request.rawHeaders,
})

const isAbandoned = (error: unknown): error is Error =>
  error instanceof CallerDisconnected || error instanceof BodyAborted

/** What the logs say of a call that failed. */
function outcomeOf(error: unknown): Outcome {
  if (isAbandoned(error)) return { status: null, failure: error.message }
  if (error instanceof RelayFailure) return { status: 502, failure: error.message }
  if (error instanceof AppError) return { status: error.status, failure: error.logged }
  return { status: 500, failure: 'internal error' }
}

function answerFor(error: unknown): unknown {
  return error instanceof RelayFailure
    ? new AppError('bad_gateway', `the call could not be forwarded: ${error.message}`, { cause: error })
    : error
}
