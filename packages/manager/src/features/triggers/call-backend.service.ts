// One attempt: calls the backend with the freshest heartbeat, and the next one where nothing could be sent to it.
import type { Clock } from '../../platform/clock.ts'
import type { OutboundPools } from '../../platform/outbound/pools.ts'
import { SendFailure, send } from '../../platform/outbound/send.ts'
import { signWebhook } from '../../platform/outbound/webhook-signature.ts'
import { type CallbackRun, callbackBody, callbackHeaders } from './callback.pure.ts'
import type { AttemptResult } from './delivery-rules.pure.ts'

export type CallDeps = { pools: OutboundPools; clock: Clock; attemptTimeoutMs: number }
type Target = { projectId: string; registrationId: string; callbackUrl: string; token: string }
type Call = { run: CallbackRun; attempt: number; targets: readonly Target[]; signal: AbortSignal }

// The body of an answer means nothing to us.
const maxResponseBytes = 65_536

/** Calls one backend after the other until one is reached; `targets` has at least one. Never rejects. */
export async function callFirstReachable(deps: CallDeps, call: Call): Promise<AttemptResult> {
  let result: AttemptResult = { failure: 'no backend is live' }
  for (const target of call.targets) {
    try {
      return await callBackend(deps, call, target)
    } catch (error) {
      const isFailure = error instanceof SendFailure
      result = { failure: isFailure ? error.reason : 'the request cannot be sent to the upstream' }
      // It may have been received: another backend must not get it too.
      if (call.signal.aborted || !isFailure || error.phase === 'exchange') return result
    }
  }
  return result
}

async function callBackend(deps: CallDeps, call: Call, target: Target): Promise<AttemptResult> {
  const { run, attempt, signal } = call
  const { projectId, registrationId, callbackUrl, token } = target
  const url = new URL(callbackUrl)
  const body = callbackBody(run)
  const timestampSeconds = Math.floor(deps.clock.now().getTime() / 1_000)
  const { status, headers } = await send({
    // By registration: one that hangs does not take the connections of another one at the same host.
    pool: deps.pools.of(projectId, url.origin, registrationId),
    path: url.pathname + url.search,
    method: 'POST',
    headers: callbackHeaders(run, {
      attempt,
      timestampSeconds,
      token,
      signature: signWebhook({ id: run.id, timestampSeconds, body, token }),
    }),
    body,
    timeoutMs: deps.attemptTimeoutMs,
    maxResponseBytes,
    signal,
  })
  return { status, retryAfter: headers['retry-after'] }
}
