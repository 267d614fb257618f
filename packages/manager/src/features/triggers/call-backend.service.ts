// Performs one attempt: calls the backend with the most recent heartbeat, and the next backend if the request could not
// be sent.
import type { Clock } from '../../platform/clock.ts'
import type { OutboundPools } from '../../platform/outbound/pools.ts'
import { SendFailure, send } from '../../platform/outbound/send.ts'
import { signWebhook } from '../../platform/outbound/webhook-signature.ts'
import { createTraceHeaders } from '../../platform/tracing/trace-context.ts'
import type { SpanResult, Span, Tracing } from '../../platform/tracing/tracing.ts'
import { type CallbackRun, createCallbackBody, createCallbackHeaders } from './callback.pure.ts'
import type { AttemptResult } from './delivery-rules.pure.ts'

export type CallDeps = { pools: OutboundPools; clock: Clock; tracing: Tracing; attemptTimeoutMs: number }
type Target = {
  projectId: string
  registrationId: string
  callbackUrl: string
  token: string
  signingSecret: string | null
}
export type Call = {
  run: CallbackRun
  attempt: number
  /** The backends at the start of the attempt, sorted by most recent heartbeat. */
  targets: readonly Target[]
  /** Reads the current backends, so that a backend that has unregistered since is not called. */
  listTargets: () => Promise<readonly Target[]>
  signal: AbortSignal
}
/** `postponed`: the Manager reached its own limit, so the call was not attempted. */
export type CallResult = AttemptResult | { postponed: string }

// The response body is ignored.
const maxResponseBytes = 65_536
const maxTargets = 5

/**
 * Calls backends in order until a backend receives the request, within the timeout of one attempt and in a
 * separate trace.
 */
export async function callFirstReachable(deps: CallDeps, call: Call): Promise<CallResult> {
  const { run, attempt } = call
  const span = deps.tracing.startWork('trigger attempt', {
    'manager.trigger.id': run.triggerId,
    'manager.trigger_run.id': run.id,
    'manager.trigger_run.attempt': attempt,
  })
  try {
    const result = await deps.tracing.runWithin(span, () => callTargets(deps, call, span))
    span.end(toSpanResult(result))
    return result
  } catch (error) {
    span.end({ failure: 'internal error' })
    throw error
  }
}

const toSpanResult = (result: CallResult): SpanResult =>
  'postponed' in result
    ? { failure: result.postponed }
    : 'failure' in result
      ? { failure: result.failure }
      : { status: result.status }

async function callTargets(deps: CallDeps, call: Call, parent: Span): Promise<CallResult> {
  const deadline = performance.now() + deps.attemptTimeoutMs
  const triedIds = new Set<string>()
  let result: CallResult = { failure: 'no backend is live' }
  for (let targets = call.targets; triedIds.size < maxTargets; targets = await call.listTargets()) {
    const target = targets.find(({ registrationId }) => !triedIds.has(registrationId))
    const timeoutMs = deadline - performance.now()
    if (target === undefined || timeoutMs <= 0) break
    triedIds.add(target.registrationId)
    try {
      return await callBackend(deps, call, { ...target, parent, timeoutMs })
    } catch (error) {
      if (!(error instanceof SendFailure)) throw error
      if (error.isOwnLimit) return { postponed: error.reason }
      result = { failure: error.reason }
      // The backend may have received the request, so no other backend may be called.
      if (call.signal.aborted || error.phase === 'exchange') break
    }
  }
  return result
}

type CallContext = { parent: Span; timeoutMs: number }

async function callBackend(
  deps: CallDeps,
  { run, attempt, signal }: Call,
  { projectId, registrationId, callbackUrl, token, signingSecret, parent, timeoutMs }: Target & CallContext,
): Promise<AttemptResult> {
  const url = new URL(callbackUrl)
  const span = deps.tracing.startCall(parent, {
    method: 'POST',
    origin: url.origin,
    spanAttributes: { 'manager.backend_registration.id': registrationId },
  })
  const body = createCallbackBody(run)
  const timestampSeconds = Math.floor(deps.clock.now().getTime() / 1_000)
  // The second signature is for receivers that know only the token. The next release will send only the first
  // signature.
  const keys = signingSecret === null ? [token] : [signingSecret, token]
  const message = { id: run.id, timestampSeconds, body }
  const signature = keys.map((key) => signWebhook({ ...message, token: key })).join(' ')
  const pendingResponse = send({
    // Pools are per registration, so that a hanging backend does not use the connections of another
    // backend on the same host.
    pool: deps.pools.getPool(projectId, url.origin, registrationId),
    path: url.pathname + url.search,
    method: 'POST',
    headers: [
      ...createCallbackHeaders(run, { attempt, timestampSeconds, token, signature }),
      ...createTraceHeaders(span.context),
    ],
    body,
    timeoutMs,
    maxResponseBytes,
    signal,
  })
  const { status, headers } = await pendingResponse.catch((error: unknown) => {
    span.end({ failure: error instanceof SendFailure ? error.reason : 'internal error' })
    throw error
  })
  span.end({ status })
  return { status, retryAfter: headers['retry-after'] }
}
