// Sends a call on: the body as it is or transformed, the headers that pass, the endpoint's credentials; and passes the
// response back. Bodies that need no transformation are streamed in both directions.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Machine } from '../../policy/authenticate.ts'
import type { Clock } from '../../platform/clock.ts'
import { AppError, unavailable } from '../../platform/errors.ts'
import { type Lease, createFairShare } from '../../platform/throttle/fair-share.ts'
import type { OutboundPools } from '../../platform/outbound/pools.ts'
import { CallerDisconnected, RelayFailure, type RelayRequest, relay } from '../../platform/outbound/relay.ts'
import {
  type BodyLimits,
  type PassedBody,
  arrivedBody,
  checkAnnouncedBody,
  passBody,
  readBody,
} from '../../platform/outbound/request-body.ts'
import { traceHeaders } from '../../platform/tracing/trace-context.ts'
import type { Span, Tracing } from '../../platform/tracing/tracing.ts'
import type { Outcome, Recording } from '../call-log/index.ts'
import type { TransformationsApi } from '../transformations/index.ts'
import { nextHop } from './hops.pure.ts'
import { withQuery } from './invocation.pure.ts'
import { headersToCaller, headersToUpstream } from './passed-headers.pure.ts'
import type { Target } from './targets.service.ts'

type GatewayLimits = {
  body: BodyLimits
  maxResponseBytes: number
  forwardTimeoutMs: number
  /** Bodies that are transformed, all together. */
  maxBufferedBytes: number
}
export type ForwardingDeps = {
  clock: Clock
  tracing: Pick<Tracing, 'startCall'>
  transformations: Pick<TransformationsApi, 'render'>
  pools: OutboundPools
  limits: GatewayLimits
}

/** A request of a known machine user, and its response. */
export type Incoming = {
  machine: Machine
  request: IncomingMessage
  requestId: string
  /** The call in its trace. */
  span: Span
  sourceIp: string
  response: ServerResponse
  /** Headers that we add to the response. */
  ownHeaders: OutgoingHttpHeaders
  /** Called when it is known which endpoint is called. */
  onEndpoint: (id: string) => void
  /** Called before an error is thrown; the last call counts. */
  onFailure: (outcome: Outcome) => void
  /** Called once, when the response begins to pass; until then a thrown error can still be sent as a response. */
  onHead: () => void
}
export type Call = { incoming: Incoming; target: Target; query: string; recording: Recording }
type Forwarded = { body: Buffer | PassedBody | null; headers: string[] }

const maxWaitingBodies = 1_000
const maxBodyWaitMs = 2_000
const noneReplaced: ReadonlySet<string> = new Set()
const replacedByTransformation: ReadonlySet<string> = new Set(['content-type', 'content-encoding'])

/** Returns a function that forwards a call; it resolves when the whole response is on its way to the caller. */
export function createForwarding(deps: ForwardingDeps) {
  const { pools, limits } = deps
  const buffers = createFairShare({
    // The largest body always fits.
    capacity: Math.max(limits.maxBufferedBytes, limits.body.maxBytes),
    item: limits.body.maxBytes,
    maxWaiting: maxWaitingBodies,
    maxWaitMs: maxBodyWaitMs,
    full: 'too many large bodies are being transformed; try again',
  })
  const forward = async (call: Call, buffered: Lease): Promise<void> => {
    const { incoming, target } = call
    const { upstream, authorization } = target
    if (upstream === null) throw new AppError('bad_gateway', 'the endpoint has no url to forward to')
    const hop = nextHop(incoming.request.rawHeaders)
    if (hop === null)
      throw new AppError('bad_gateway', 'the call loops: its endpoint leads back to the gateway')
    checkAnnouncedBody(incoming.request, limits.body.maxBytes)
    const { body, headers } =
      target.transformationTemplate === ''
        ? unchanged(call, limits.body)
        : await transformed(call, buffered, deps)
    const method = incoming.request.method as string
    // A response to TRACE repeats what was sent, and the caller must not see the credentials.
    if (authorization !== null && method !== 'TRACE') headers.push('Authorization', authorization)
    headers.push('X-Request-Id', incoming.requestId, ...hop)
    const pool = pools.of(target.projectId, upstream.origin)
    if (pool.inFlight >= pool.maxInFlight)
      throw unavailable('too many calls to this endpoint are in flight; try again')
    const span = deps.tracing.startCall(incoming.span, {
      method,
      origin: upstream.origin,
      about: { 'manager.endpoint.id': target.id },
    })
    headers.push(...traceHeaders(span.context))
    const path = withQuery(upstream.path, call.query)
    const { maxResponseBytes, forwardTimeoutMs: deadlineMs } = limits
    await relayTraced({ pool, path, method, headers, body, maxResponseBytes, deadlineMs }, call, span)
  }
  return async (call: Call): Promise<void> => {
    const buffered = buffers.begin([call.target.projectId])
    try {
      await forward(call, buffered)
    } finally {
      buffered.release()
    }
  }
}

/** Passes the response on, and ends the span with what came of it. */
async function relayTraced(request: RelayRequest, { incoming, recording }: Call, span: Span): Promise<void> {
  let answered: number | undefined
  try {
    await relay(request, {
      response: incoming.response,
      headersFor: (received) => {
        recording.keepResponseHeaders(received)
        const passed = Object.assign(headersToCaller(received), incoming.ownHeaders)
        // A response that comes before its request is complete: the rest of the body is not waited for.
        if (!incoming.request.complete) passed.connection = 'close'
        return passed
      },
      onHead: incoming.onHead,
      onData: recording.response && ((chunk) => recording.response?.add(chunk)),
      commit: (status) => {
        answered = status
        return recording.end({ status, failure: null })
      },
    })
    span.end({ status: answered })
  } catch (error) {
    const isKnown = error instanceof RelayFailure || error instanceof CallerDisconnected
    span.end({ status: answered, failure: isKnown ? error.message : 'the call was given up' })
    throw error
  }
}

function unchanged({ incoming: { request }, recording }: Call, limits: BodyLimits): Forwarded {
  const headers = headersToUpstream(request.rawHeaders, noneReplaced)
  const arrived = arrivedBody(request, limits.maxBytes)
  if (arrived !== undefined) {
    if (arrived !== null) recording.request?.add(arrived)
    return { body: arrived, headers }
  }
  const length = request.headers['content-length']
  if (length !== undefined) headers.push('Content-Length', length)
  return { body: passBody(request, limits, (chunk) => recording.request?.add(chunk)), headers }
}

async function transformed(call: Call, buffered: Lease, deps: ForwardingDeps): Promise<Forwarded> {
  const { incoming, target, recording } = call
  const { request, machine } = incoming
  const body = await readBody(request, deps.limits.body, buffered)
  recording.request?.add(body)
  const { transformationTemplate: template, inputMessageType, outputMessageType, application } = target
  const { id, name, consumeUrl, description, upstream, projectId } = target
  const { output, contentType } = await deps.transformations.render({
    template,
    inputMessageType,
    outputMessageType,
    body,
    projectId,
    application,
    endpoint: { id, name, consumeUrl, description, url: upstream?.url ?? null },
    user: machine,
    at: deps.clock.now(),
  })
  recording.markTransformed()
  const headers = headersToUpstream(request.rawHeaders, replacedByTransformation)
  headers.push('Content-Type', contentType)
  return { body: output, headers }
}
