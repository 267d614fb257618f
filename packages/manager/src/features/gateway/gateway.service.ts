// Handles a call through the ESB. The service finds the endpoint, starts the log entry, checks the access,
// and forwards the call. The outcome is logged, including rejections. The caller is already authenticated.
import type { Machine } from '../../policy/authenticate.ts'
import { AppError, forbidden } from '../../platform/errors.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { createFairShare } from '../../platform/throttle/fair-share.ts'
import { CallerDisconnectedError, RelayFailure } from '../../platform/outbound/relay.ts'
import { BodyAbortedError } from '../../platform/outbound/request-body.ts'
import type { CallLogApi, Outcome } from '../call-log/index.ts'
import type { GatewayMetrics } from './gateway.metrics.ts'
import { type Call, type ForwardingDeps, type IncomingCall, createForwarder } from './forwarding.service.ts'
import { type Invocation, readInvocation, appendQuery } from './invocation.pure.ts'
import { type Target, type TargetsDeps, createTargetFinder } from './targets.service.ts'

export type GatewayDeps = TargetsDeps &
  ForwardingDeps & {
    metrics: Metrics
    gatewayMetrics: GatewayMetrics
    callLog: CallLogApi
    /** Maximum number of calls in flight in total, for all projects. */
    maxCalls: number
  }
export type GatewayService = ReturnType<typeof createGatewayService>
export type GatewayParts = ReturnType<typeof createGatewayParts>

const maxCallWaitMs = 1_000

/** Creates the parts that calls by machine users and test calls share, so that the same limits apply to both. */
export function createGatewayParts(deps: GatewayDeps) {
  return {
    findTarget: createTargetFinder(deps),
    forwardLogged: createLoggedForwarder(deps),
    // A call occupies its connection until it is complete. A caller that sends its body slowly prolongs that time.
    calls: createFairShare({
      capacity: deps.maxCalls,
      maxWaiting: deps.maxCalls,
      maxWaitMs: maxCallWaitMs,
      overloadMessage: 'too many calls are in flight; try again',
    }),
  }
}

export function createGatewayService(deps: GatewayDeps, parts: GatewayParts) {
  const handleCall = createCallHandler(deps, parts)
  const handleWithinLimit = async (incoming: IncomingCall, scope: FailureScope): Promise<void> => {
    const call = await parts.calls.take([incoming.machine.projectId]).catch((error: unknown) => {
      countShedCall(deps, error)
      throw error
    })
    try {
      await handleCall(incoming, scope)
    } finally {
      call.release()
    }
  }
  return {
    /** Sends the response, or throws the error to send. */
    call: async (incoming: IncomingCall): Promise<void> => {
      const scope: FailureScope = { applicationId: null }
      try {
        await handleWithinLimit(incoming, scope)
      } catch (error) {
        const outcome = getOutcome(error)
        incoming.onFailure(outcome)
        // Only failures of the Manager itself (500, 502, 503, or a truncated response) count. Responses from the
        // partner do not.
        if ((outcome.status ?? 0) >= 500) deps.gatewayMetrics.countFailure(scope.applicationId)
        throw toResponseError(error)
      }
    },
  }
}

/**
 * The application for which a failed call is counted. The value is set only after the endpoint is found, so
 * it is never an id that the caller invented.
 */
type FailureScope = { applicationId: string | null }

function createCallHandler({ callLog }: GatewayDeps, { findTarget, forwardLogged }: GatewayParts) {
  return async (incoming: IncomingCall, scope: FailureScope): Promise<void> => {
    const invocation = readInvocation(incoming.request.url ?? '')
    const target = invocation && (await findTarget(createTargetKey(incoming.machine, invocation)))
    if (invocation === null || target === null)
      throw new AppError('not_found', 'Endpoint not found or not enabled')
    scope.applicationId = invocation.applicationId
    incoming.onEndpoint(target.id)
    const recording = callLog.record(buildCallDetails(incoming, invocation, target))
    await recording.start()
    await forwardLogged({ incomingCall: incoming, target, query: invocation.query, recording })
  }
}

/**
 * Returns a function that forwards a call whose start has been logged, and logs the end of the call. It throws the
 * error of the call.
 */
function createLoggedForwarder(deps: GatewayDeps) {
  const forward = createForwarder(deps)
  return async (call: Call): Promise<void> => {
    const { target, recording } = call
    const startMs = performance.now()
    let result: 'answered' | 'failed' | 'refused' | 'abandoned' = 'answered'
    try {
      if (!target.isAllowed) throw forbidden('the machine user has no access to this endpoint')
      await forward(call)
    } catch (error) {
      result = error instanceof RelayFailure ? 'failed' : isAbandoned(error) ? 'abandoned' : 'refused'
      countShedCall(deps, error)
      const outcome = getOutcome(error)
      call.incomingCall.onFailure(outcome)
      // If logging the end of the call failed, nothing more can be logged.
      if (!recording.hasEnded()) await recording.end(outcome)
      throw error
    } finally {
      deps.gatewayMetrics.forward.observe({ outcome: result }, (performance.now() - startMs) / 1_000)
    }
  }
}

function countShedCall({ metrics }: GatewayDeps, error: unknown): void {
  if (error instanceof AppError && error.code === 'unavailable') metrics.shed.inc({ point: 'esb' })
}

const createTargetKey = (machine: Machine, { applicationId, path }: Invocation) => ({
  projectId: machine.projectId,
  version: machine.endpointsVersion,
  machineUserId: machine.id,
  applicationId,
  path,
})

/** Returns the details of a call for the call log. */
export const buildCallDetails = (
  { requestId, machine, sourceIp, request }: IncomingCall,
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
  targetUrl: target.upstream === null ? '' : appendQuery(target.upstream.url, invocation.query),
  headers: request.rawHeaders,
})

const isAbandoned = (error: unknown): error is Error =>
  error instanceof CallerDisconnectedError || error instanceof BodyAbortedError

/** Returns the outcome that is logged for a failed call. */
function getOutcome(error: unknown): Outcome {
  if (isAbandoned(error)) return { status: null, failure: error.message }
  if (error instanceof RelayFailure) return { status: 502, failure: error.message }
  if (error instanceof AppError) return { status: error.status, failure: error.logMessage }
  return { status: 500, failure: 'internal error' }
}

function toResponseError(error: unknown): unknown {
  return error instanceof RelayFailure
    ? new AppError('bad_gateway', `the call could not be forwarded: ${error.message}`, { cause: error })
    : error
}
